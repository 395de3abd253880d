package bench

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// pod returns a typical pod: two containers, with ports, environment, resources and a probe.
func pod(n int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("pod-%d", n), Namespace: "default",
			Labels:      map[string]string{"app": "web", "tier": "front", "version": "v1"},
			Annotations: map[string]string{"example.com/owner": "team-a"},
		},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{
				{
					Name: "main", Image: "registry.example.com/web:1.2.3", Args: []string{"--listen", ":8080"},
					Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
					Env:   []corev1.EnvVar{{Name: "MODE", Value: "production"}, {Name: "LEVEL", Value: "info"}},
					Resources: corev1.ResourceRequirements{
						Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("64Mi")},
						Limits:   corev1.ResourceList{"memory": resource.MustParse("128Mi")},
					},
					ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
						HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("http")},
					}},
				},
				{Name: "sidecar", Image: "registry.example.com/proxy:4", Env: []corev1.EnvVar{{Name: "UPSTREAM", Value: "127.0.0.1:8080"}}},
			},
		},
	}
}
