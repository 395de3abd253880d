package celgo

import (
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/field"
)

var (
	typeAuthorizer    = cel.ObjectType("kubernetes.authorization.Authorizer")
	typePathCheck     = cel.ObjectType("kubernetes.authorization.PathCheck")
	typeGroupCheck    = cel.ObjectType("kubernetes.authorization.GroupCheck")
	typeResourceCheck = cel.ObjectType("kubernetes.authorization.ResourceCheck")
	typeDecision      = cel.ObjectType("kubernetes.authorization.Decision")
)

// question is an authorizer with the arguments of the query so far: authorizer.group("").resource("pods").
type question struct {
	ask expr.Authorizer
	expr.Access
}

func questionVal(typ *cel.Type, q question) ref.Val {
	return &special{typ: typ, value: q, equal: func(other any) bool { return other.(question).Access == q.Access }}
}

// narrowing declares a function that adds one argument to a question. The name of its overload is id followed by name.
func narrowing(name, id string, of, result *cel.Type, set func(*expr.Access, string)) cel.EnvOption {
	return cel.Function(name, member(id+name, result, binary(func(q question, s string) ref.Val {
		if (name == "path" || name == "resource") && strings.TrimSpace(s) == "" {
			return types.NewErr("%s must not be empty", name)
		}
		set(&q.Access, s)
		return questionVal(result, q)
	}), of, cel.StringType))
}

// authorizerFunctions returns the functions by which expressions query an authorizer.
func authorizerFunctions() []cel.EnvOption {
	ofResource := func(name string, set func(*expr.Access, string)) cel.EnvOption {
		return narrowing(name, "resourcecheck_", typeResourceCheck, typeResourceCheck, set)
	}
	return append(decisionFunctions(),
		cel.Function("serviceAccount", member("authorizer_serviceaccount", typeAuthorizer, cel.FunctionBinding(askServiceAccount),
			typeAuthorizer, cel.StringType, cel.StringType)),
		narrowing("path", "authorizer_", typeAuthorizer, typePathCheck, func(a *expr.Access, s string) { a.Path = s }),
		narrowing("group", "authorizer_", typeAuthorizer, typeGroupCheck, func(a *expr.Access, s string) { a.Group = s }),
		narrowing("resource", "groupcheck_", typeGroupCheck, typeResourceCheck, func(a *expr.Access, s string) { a.Resource = s }),
		ofResource("subresource", func(a *expr.Access, s string) { a.Subresource = s }),
		ofResource("namespace", func(a *expr.Access, s string) { a.Namespace = s }),
		ofResource("name", func(a *expr.Access, s string) { a.Name = s }),
		ofResource("fieldSelector", func(a *expr.Access, s string) { a.FieldSelector = s }),
		ofResource("labelSelector", func(a *expr.Access, s string) { a.LabelSelector = s }))
}

func askServiceAccount(args ...ref.Val) ref.Val {
	q, ok := args[0].Value().(question)
	namespace, ok2 := args[1].Value().(string)
	name, ok3 := args[2].Value().(string)
	switch {
	case !ok || !ok2 || !ok3:
		return types.MaybeNoSuchOverloadErr(args[0])
	case len(field.NameDNSSubdomain(name, false)) > 0:
		return types.NewErr("Invalid service account name")
	case len(field.NameDNSLabel(namespace, false)) > 0:
		return types.NewErr("Invalid service account namespace")
	}
	q.ServiceAccountNamespace, q.ServiceAccountName = namespace, name
	return questionVal(typeAuthorizer, q)
}

func decisionFunctions() []cel.EnvOption {
	check := func(q question, verb string) ref.Val {
		q.Verb = verb
		d := q.ask(q.Access)
		return &special{typ: typeDecision, value: d, equal: func(other any) bool { return other.(expr.Decision) == d }}
	}
	return []cel.EnvOption{
		cel.Function("check",
			member("pathcheck_check", typeDecision, binary(check), typePathCheck, cel.StringType),
			member("resourcecheck_check", typeDecision, binary(check), typeResourceCheck, cel.StringType)),
		property("errored", "decision_errored", typeDecision, cel.BoolType, func(d expr.Decision) ref.Val { return types.Bool(d.Error != "") }),
		property("error", "decision_error", typeDecision, cel.StringType, func(d expr.Decision) ref.Val { return types.String(d.Error) }),
		property("allowed", "decision_allowed", typeDecision, cel.BoolType, func(d expr.Decision) ref.Val { return types.Bool(d.Allowed) }),
		property("reason", "decision_reason", typeDecision, cel.StringType, func(d expr.Decision) ref.Val { return types.String(d.Reason) }),
	}
}
