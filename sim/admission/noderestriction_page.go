//go:build page

package admission

// restrictNodes returns no step. The clusters of the web page do not run the plugin.
func restrictNodes(*Server) Step { return nil }
