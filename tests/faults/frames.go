// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// mostFrame is longer than any object may be.
const mostFrame = 16 << 20

// framing is how the events of a watch follow each other.
type framing struct{ protobuf bool }

func framingOf(contentType string) framing {
	return framing{protobuf: strings.Contains(contentType, "protobuf")}
}

// next reads one event with all that belongs to it.
func (f framing) next(from *bufio.Reader) ([]byte, error) {
	if !f.protobuf {
		line, err := from.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			err = nil
		}
		return line, err
	}
	var head [4]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > mostFrame {
		return nil, fmt.Errorf("an event of %d bytes", size)
	}
	frame := make([]byte, len(head)+int(size))
	copy(frame, head[:])
	_, err := io.ReadFull(from, frame[len(head):])
	return frame, err
}

// isMereBookmark says whether the event is a bookmark that ends no initial list.
func (f framing) isMereBookmark(frame []byte) bool {
	start := frame[:min(len(frame), 40)]
	return bytes.Contains(start, []byte("BOOKMARK")) && !bytes.Contains(frame, []byte(metav1.InitialEventsAnnotationKey))
}

// expired is the event that says that the version is too old.
func (f framing) expired() ([]byte, error) {
	status := failure(http.StatusGone, string(metav1.StatusReasonExpired), "too old resource version", 0)
	if !f.protobuf {
		object, err := json.Marshal(status)
		if err != nil {
			return nil, err
		}
		event, err := json.Marshal(metav1.WatchEvent{Type: "ERROR", Object: runtime.RawExtension{Raw: object}})
		return append(event, '\n'), err
	}
	var object bytes.Buffer
	if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(status, &object); err != nil {
		return nil, err
	}
	event := metav1.WatchEvent{Type: "ERROR", Object: runtime.RawExtension{Raw: object.Bytes()}}
	text, err := event.Marshal()
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...), err
}

// failure is what the API server says of what it did not do.
func failure(code int, reason, message string, retryAfter int) *metav1.Status {
	status := &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: metav1.StatusReason(reason), Message: message,
	}
	if retryAfter > 0 {
		status.Details = &metav1.StatusDetails{RetryAfterSeconds: int32(retryAfter)}
	}
	return status
}
