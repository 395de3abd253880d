// Package discovery serves the documents by which a client discovers an API server: groups, versions, resources, OpenAPI, and the
// server's version and health.
//
//	resource.Table ──┬─▶ groups ──┬─▶ /api  /apis  /apis/GROUP            legacy, aggregated (ETag)
//	 (in any order)  │   (sorted) └─▶ /api/v1  /apis/GROUP/VERSION
//	                 └─▶ package openapi ─▶ /openapi/v3 (index) ─▶ /openapi/v3/apis/GROUP/VERSION?hash=…
//	                                      └▶ /openapi/v2
//	Options ─────────────▶ /version  /healthz  /livez  /readyz  /statusz  /flagz  /metrics  /  /openid/v1/jwks
//
// Documents are created when they are first requested, and cached until Changed is called. See API concepts ("Kubernetes API
// terminology", "Discovery") and KEP-3352 for the aggregated form.
package discovery
