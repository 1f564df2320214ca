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

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
)

const (
	berthServiceAccount = "berth"
	userBindingSuffix   = "-test-user"
)

// grantBerth applies the manifest that ships with Berth, and repeats each binding of its service
// account for user berth. So a test that runs as that user sees a right missing from the manifest.
func (c *ControlPlane) grantBerth(ctx context.Context) error {
	file, err := rbacManifest()
	if err != nil {
		return err
	}
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
	return c.apply(ctx, berthFlowSchema())
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

// forTestUser is the binding once more with user berth as its subject, or nil if the object does not
// bind Berth's service account.
func forTestUser(object runtime.Object) runtime.Object {
	user := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: string(Berth)}}
	switch binding := object.DeepCopyObject().(type) {
	case *rbacv1.ClusterRoleBinding:
		if bindsBerth(binding.Subjects) {
			binding.Name, binding.Subjects = binding.Name+userBindingSuffix, user
			return binding
		}
	case *rbacv1.RoleBinding:
		if bindsBerth(binding.Subjects) {
			binding.Name, binding.Subjects = binding.Name+userBindingSuffix, user
			return binding
		}
	}
	return nil
}

func bindsBerth(subjects []rbacv1.Subject) bool {
	for _, s := range subjects {
		if s.Kind == rbacv1.ServiceAccountKind && s.Name == berthServiceAccount && s.Namespace == metav1.NamespaceSystem {
			return true
		}
	}
	return false
}

// berthFlowSchema gives user berth the request priority that service accounts in kube-system have,
// and kube-scheduler too.
func berthFlowSchema() *flowcontrolv1.FlowSchema {
	return &flowcontrolv1.FlowSchema{
		ObjectMeta: metav1.ObjectMeta{Name: "berth-test-user"},
		Spec: flowcontrolv1.FlowSchemaSpec{
			PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: "workload-high"},
			MatchingPrecedence:         800,
			DistinguisherMethod:        &flowcontrolv1.FlowDistinguisherMethod{Type: flowcontrolv1.FlowDistinguisherMethodByNamespaceType},
			Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
				Subjects: []flowcontrolv1.Subject{{
					Kind: flowcontrolv1.SubjectKindUser,
					User: &flowcontrolv1.UserSubject{Name: string(Berth)},
				}},
				ResourceRules: []flowcontrolv1.ResourcePolicyRule{{
					Verbs:        []string{"*"},
					APIGroups:    []string{"*"},
					Resources:    []string{"*"},
					ClusterScope: true,
					Namespaces:   []string{"*"},
				}},
				NonResourceRules: []flowcontrolv1.NonResourcePolicyRule{{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}},
			}},
		},
	}
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
