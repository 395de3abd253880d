package encryption

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"
)

// reloads counts the reloads of the file.
type reloads struct {
	succeeded, failed    int
	successAt, failureAt time.Time
	hash                 string // of the contents that apply
}

// Metrics returns the metrics of reloads in the text format of Prometheus (k8s.io/apiserver/pkg/server/options/encryptionconfig/metrics).
func (v *Values) Metrics() string {
	v.mu.Lock()
	r := v.reloads
	v.mu.Unlock()
	var b strings.Builder
	const prefix = "apiserver_encryption_config_controller_"
	id := fmt.Sprintf("apiserver_id_hash=%q", hash(v.id))
	family := func(name, help, kind string, samples ...string) {
		if all := strings.Join(samples, ""); all != "" {
			fmt.Fprintf(&b, "# HELP %s%s %s\n# TYPE %[1]s%[2]s %[4]s\n%[5]s", prefix, name, help, kind, all)
		}
	}
	sample := func(name, status string, n int, value any) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf("%s%s{%s,status=%q} %v\n", prefix, name, id, status, value)
	}
	seconds := func(at time.Time) float64 { return float64(at.UnixNano()) / 1e9 }
	const last, total = "automatic_reload_last_timestamp_seconds", "automatic_reloads_total"
	family(last, "[ALPHA] Timestamp of the last successful or failed automatic reload of encryption configuration split by apiserver identity.",
		"gauge", sample(last, "failure", r.failed, seconds(r.failureAt)), sample(last, "success", r.succeeded, seconds(r.successAt)))
	family(total, "[ALPHA] Total number of reload successes and failures of encryption configuration split by apiserver identity.", "counter",
		sample(total, "failure", r.failed, r.failed), sample(total, "success", r.succeeded, r.succeeded))
	family("last_config_info", "[ALPHA] Information about the last applied encryption configuration with hash as label, split by apiserver identity.",
		"gauge", fmt.Sprintf("%slast_config_info{%s,hash=%q} 1\n", prefix, id, r.hash))
	return b.String()
}

// hash returns the label of a text.
func hash(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))
}
