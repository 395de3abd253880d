package control

import (
	"errors"
	"io"
	"net/http"
)

// snapshotMax is the greatest size of a snapshot that is sent to a server.
const snapshotMax = 256 << 20

// snapshot serves the snapshot below /sim/v1/.
func (p *Panel) snapshot(control *http.ServeMux) {
	control.HandleFunc("GET "+Prefix+"snapshot", func(w http.ResponseWriter, _ *http.Request) {
		data, err := p.server.Snapshot()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(data) // a client that went away is no error of the server
	})
	control.HandleFunc("POST "+Prefix+"snapshot", func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, snapshotMax))
		if err == nil && len(data) == 0 {
			err = errors.New("the body is empty: send what GET " + Prefix + "snapshot returned")
		}
		if err == nil {
			err = p.server.Recall(data)
		}
		refuse(w, "snapshot", err)
	})
}
