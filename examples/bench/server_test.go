package bench

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// BenchmarkServer measures requests without a client: it passes prepared bodies directly to the transport. Its time is the share
// of kubesim in BenchmarkCreate, BenchmarkUpdate and BenchmarkGet. It is also the benchmark for counting instructions.
func BenchmarkServer(b *testing.B) {
	for _, contentType := range []string{json, protobuf} {
		form := contentType[len("application/"):]
		b.Run("create/"+form, func(b *testing.B) { sendCreates(b, contentType) })
		b.Run("update/"+form, func(b *testing.B) {
			sendUpdates(b, contentType, "", func(p *corev1.Pod, n int) { p.Labels["version"] = fmt.Sprintf("v%d", n) })
		})
		b.Run("status/"+form, func(b *testing.B) {
			sendUpdates(b, contentType, "/status", func(p *corev1.Pod, n int) { p.Status.Message = fmt.Sprintf("v%d", n) })
		})
		b.Run("get/"+form, func(b *testing.B) { sendGets(b, contentType) })
	}
}

func sendCreates(b *testing.B, contentType string) {
	s := sender{server: kubesim(b), contentType: contentType}
	bodies := make([][]byte, b.N)
	for n := range bodies {
		bodies[n] = s.print(b, pod(n))
	}
	b.ReportAllocs()
	b.ResetTimer()
	for n := range bodies {
		s.send(b, http.MethodPost, "", bodies[n])
	}
}

// sendUpdates alternately applies two changes to a pod, with bodies that have no resourceVersion.
func sendUpdates(b *testing.B, contentType, subresource string, change func(*corev1.Pod, int)) {
	s := sender{server: kubesim(b), contentType: contentType}
	body := s.send(b, http.MethodPost, "", s.print(b, pod(0)))
	created := &corev1.Pod{}
	if err := runtime.DecodeInto(scheme.Codecs.UniversalDeserializer(), body, created); err != nil {
		b.Fatal(err)
	}
	created.ResourceVersion = ""
	bodies := make([][]byte, 2)
	for n := range bodies {
		change(created, n)
		bodies[n] = s.print(b, created)
	}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		s.send(b, http.MethodPut, "/pod-0"+subresource, bodies[n%2])
	}
}

func sendGets(b *testing.B, contentType string) {
	s := sender{server: kubesim(b), contentType: contentType}
	s.send(b, http.MethodPost, "", s.print(b, pod(0)))
	b.ReportAllocs()
	for b.Loop() {
		s.send(b, http.MethodGet, "/pod-0", nil)
	}
}

// sender sends requests about pods.
type sender struct {
	server      http.RoundTripper
	contentType string
}

func (s sender) print(t testing.TB, p *corev1.Pod) []byte {
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), s.contentType)
	body, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion), p)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func (s sender) send(t testing.TB, method, name string, body []byte) []byte {
	r, err := http.NewRequest(method, "http://kubesim.invalid/api/v1/namespaces/default/pods"+name, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {s.contentType}, "Accept": {s.contentType}, "User-Agent": {"bench/1"}}
	response, err := s.server.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		t.Fatal(response.StatusCode, string(answer), err)
	}
	return answer
}
