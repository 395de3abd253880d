package resource

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// Stream describes a subresource that streams or proxies (log, exec, proxy, …). Without a kubelet, a request gets the error that
// the real server returns before it connects to one, or else a 501.
type Stream struct {
	// Instead describes what the stream would require, and an alternative for tests.
	Instead string
	// Refuse returns the error of a request, or nil if the real server would connect now.
	Refuse func(r *StreamRequest) *status.Status

	// Connects reports that the request is a CONNECT for admission. Options creates its object, of the Subresource's kind, from the
	// query. A request for a log is a read, not a CONNECT.
	Connects bool
	// Upgrades reports that the connection switches to another protocol. The user must be allowed to create the subresource, even
	// if the request is a GET (AuthorizePodWebsocketUpgradeCreatePermission).
	Upgrades bool
	// Text reports that the response is plain text, which the Accept header has to allow.
	Text bool
}

// StreamRequest is a request for a Stream.
type StreamRequest struct {
	Definition      *Definition
	Namespace, Name string
	Query           url.Values
	Objects         Reader
	Server          Server // the API server that handles the request
}

// Options creates an object of d's kind, such as PodExecOptions, whose fields are the parameters of a query. It ignores unknown
// parameters and returns an error if a value cannot be converted to the type of its field.
func (d *Definition) Options(query url.Values) (object.Object, error) {
	obj := object.Object{"kind": d.Kind, "apiVersion": d.GV()}
	t := d.Type()
	for i := range t.Fields {
		f := &t.Fields[i]
		values := query[f.Name]
		if f.Name == "kind" || f.Name == "apiVersion" {
			continue
		}
		if len(values) == 0 {
			if f.PrintRule() == schema.Always {
				obj[f.Name] = nil
			}
			continue
		}
		value, err := parameter(f.Type, values)
		if err != nil {
			return nil, err
		}
		if value != "" && value != false {
			obj[f.Name] = value
		}
	}
	return obj, nil
}

// parameter converts the values of one parameter to the JSON value of a field, like apimachinery's conversion functions. It returns
// an error if an integer in a list is invalid.
func parameter(t *schema.Type, values []string) (any, error) {
	switch {
	case t.Kind == schema.Bool:
		return values[0] != "0" && !strings.EqualFold(values[0], "false"), nil
	case t.Kind == schema.List && t.Elem.Kind == schema.Int:
		var list []any
		for _, value := range values {
			for part := range strings.SplitSeq(value, ",") {
				n, err := strconv.ParseUint(part, 10, 16)
				if err != nil {
					return nil, fmt.Errorf("cannot convert to []%s: %w", t.Elem.GoType, err)
				}
				list = append(list, int64(n))
			}
		}
		return list, nil
	case t.Kind == schema.List:
		var list []any
		for _, value := range values {
			list = append(list, value)
		}
		return list, nil
	}
	return values[0], nil
}

// OptionsQuery returns the query from which Options would create obj.
func OptionsQuery(obj object.Object) url.Values {
	query := url.Values{}
	for name, value := range obj { // order does not matter
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		for _, v := range list {
			if v != nil && name != "kind" && name != "apiVersion" {
				query[name] = append(query[name], fmt.Sprint(v))
			}
		}
	}
	return query
}
