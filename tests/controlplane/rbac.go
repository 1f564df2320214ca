// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"

	"berth.dev/tests/checkout"
)

// Where the manifests put Berth, and as whom it runs there.
const (
	BerthNamespace      = "berth-system"
	BerthServiceAccount = "berth"
	// BerthServiceAccountUser is its name for the API server.
	BerthServiceAccountUser = "system:serviceaccount:" + BerthNamespace + ":" + BerthServiceAccount
)

const testUserSuffix = "-test-user"

// grantBerth applies the manifests that ship with Berth, and repeats for user berth what they give
// its service account. So a test that runs as that user sees a right missing from the manifests.
func (c *ControlPlane) grantBerth(ctx context.Context) error {
	files, err := rightsManifests()
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read Berth's rights: %w", err)
		}
		objects, err := decodeManifest(text)
		if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		for _, object := range objects {
			if err := c.apply(ctx, object); err != nil {
				return fmt.Errorf("apply %s: %w", file, err)
			}
		}
	}
	return nil
}

func decodeManifest(text []byte) ([]runtime.Object, error) {
	var objects []runtime.Object
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(document, nil, nil)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
		if copied := forTestUser(object); copied != nil {
			objects = append(objects, copied)
		}
	}
}

// forTestUser is the binding or flow schema once more with user berth as its subject, or nil if the
// object is not about Berth's service account.
func forTestUser(object runtime.Object) runtime.Object {
	user := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: string(Berth)}}
	switch o := object.DeepCopyObject().(type) {
	case *rbacv1.ClusterRoleBinding:
		if bindsBerth(o.Subjects) {
			o.Name, o.Subjects = o.Name+testUserSuffix, user
			return o
		}
	case *rbacv1.RoleBinding:
		if bindsBerth(o.Subjects) {
			o.Name, o.Subjects = o.Name+testUserSuffix, user
			return o
		}
	case *flowcontrolv1.FlowSchema:
		o.Name += testUserSuffix
		for i := range o.Spec.Rules {
			o.Spec.Rules[i].Subjects = []flowcontrolv1.Subject{{
				Kind: flowcontrolv1.SubjectKindUser,
				User: &flowcontrolv1.UserSubject{Name: string(Berth)},
			}}
		}
		return o
	}
	return nil
}

func bindsBerth(subjects []rbacv1.Subject) bool {
	for _, s := range subjects {
		if s.Kind == rbacv1.ServiceAccountKind && s.Name == BerthServiceAccount && s.Namespace == BerthNamespace {
			return true
		}
	}
	return false
}

// client is what the typed clients of one kind have in common.
type client[T any] interface {
	Create(context.Context, T, metav1.CreateOptions) (T, error)
	Update(context.Context, T, metav1.UpdateOptions) (T, error)
}

func createOrUpdate[T any](ctx context.Context, kind client[T], object T) error {
	_, err := kind.Create(ctx, object, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = kind.Update(ctx, object, metav1.UpdateOptions{})
	}
	return err
}

// apply creates the object, or replaces what has its name.
func (c *ControlPlane) apply(ctx context.Context, object runtime.Object) error {
	admin := c.Client(Admin)
	switch o := object.(type) {
	case *corev1.Namespace:
		return createOrUpdate(ctx, admin.CoreV1().Namespaces(), o)
	case *corev1.ServiceAccount:
		return createOrUpdate(ctx, admin.CoreV1().ServiceAccounts(o.Namespace), o)
	case *rbacv1.ClusterRole:
		return createOrUpdate(ctx, admin.RbacV1().ClusterRoles(), o)
	case *rbacv1.ClusterRoleBinding:
		return createOrUpdate(ctx, admin.RbacV1().ClusterRoleBindings(), o)
	case *rbacv1.Role:
		return createOrUpdate(ctx, admin.RbacV1().Roles(o.Namespace), o)
	case *rbacv1.RoleBinding:
		return createOrUpdate(ctx, admin.RbacV1().RoleBindings(o.Namespace), o)
	case *flowcontrolv1.FlowSchema:
		return createOrUpdate(ctx, admin.FlowcontrolV1().FlowSchemas(), o)
	default:
		return fmt.Errorf("a %T has no place among Berth's rights", object)
	}
}

// rightsManifests are those of the manifests that ship with Berth which say what it may do and with
// which priority; user berth gets exactly that.
func rightsManifests() ([]string, error) {
	dir, err := checkout.Module()
	if err != nil {
		return nil, err
	}
	base := filepath.Join(filepath.Dir(dir), "deploy", "base")
	return []string{
		filepath.Join(base, "namespace.yaml"),
		filepath.Join(base, "rbac.yaml"),
		filepath.Join(base, "flow_schemas.yaml"),
	}, nil
}
