package answer

import (
	"bytes"
	"net/http"
	"net/http/httptest"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/wire"
)

// packedMin is the length of the shortest answer that is compressed.
const packedMin = 1400

// onConditions returns the response to a conditional or range request for a document. As in kube-apiserver, package net/http decides it.
func onConditions(r *http.Request, a *apiserver.Answer) *apiserver.Answer {
	if a.Modified.IsZero() || a.Code != http.StatusOK || a.Lost > 0 {
		return a
	}
	whole := a.Body.Bytes()
	w := httptest.NewRecorder()
	for name, values := range a.Header { // order does not matter
		w.Header()[name] = values
	}
	if a.Header.Get("Content-Type") == "text/plain; charset=utf-8" {
		w.Header().Del("Content-Type") // kube-apiserver lets ServeContent guess it, which it does not for an answer without a body
	}
	http.ServeContent(w, r, "", a.Modified, bytes.NewReader(whole))
	w.Header()["Cache-Control"] = a.Header["Cache-Control"] // which an error of ServeContent removes
	answer := &apiserver.Answer{Code: w.Code, Header: wire.Header(w.Header()), Body: codec.Text{w.Body.Bytes()}}
	if a.Packed == nil || w.Body.Len() < packedMin {
		return answer
	}
	if answer.Body = (codec.Text{a.Packed}); w.Code != http.StatusOK {
		answer.Body = codec.Text{codec.Member([][]byte{w.Body.Bytes()})}
	}
	answer.Header.Set("Content-Encoding", "gzip")
	answer.Header.Del("Content-Length")
	return answer
}
