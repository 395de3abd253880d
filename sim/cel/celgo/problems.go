package celgo

import (
	"regexp"
	"strings"

	"cel.dev/cel-go/cel"
	celcommon "cel.dev/cel-go/common"
)

var (
	undeclared = regexp.MustCompile(`(?m)(undeclared reference to '[^'\n]*')( \((?:did you mean|enable with) .*\))?$`)
	noType     = regexp.MustCompile(`(?m)('[^'\n]*' is not a type) \((?:did you mean|enable with) .*\)$`)
	qualified  = regexp.MustCompile(`^undeclared reference to '(([^'.]+)\.(?:[^']*\.)?([^'.]+))'`)
)

// compile parses and checks an expression in an environment that is derived from e. If that fails, problem is the error text.
func (e *environment) compile(env *cel.Env, expression string) (ast *cel.Ast, problem string) {
	if e.celgo <= oldCELGo && strings.Contains(expression, "`") {
		if _, issues := env.Parse(expression); issues.Err() == nil {
			if problem = quotedNames(expression); problem != "" {
				return nil, problem
			}
		}
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		return nil, problems(issues, expression)
	}
	return ast, ""
}

// texts matches string literals and comments, in which backquotes are allowed, and quoted names.
var texts = regexp.MustCompile(`(?s)[rR]""".*?"""|[rR]'''.*?'''|"""(?:\\.|.)*?"""|'''(?:\\.|.)*?'''|[rR]"[^"]*"|[rR]'[^']*'|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|//[^\n]*|` + "`[^`]*`")

// quotedNames reports names in backquotes, which cel-go versions before v0.29 do not support.
func quotedNames(expression string) string {
	source := celcommon.NewTextSource(expression)
	errs := celcommon.NewErrors(source)
	for _, m := range texts.FindAllStringIndex(expression, -1) {
		if expression[m[0]] == '`' {
			before := expression[:m[0]]
			column := len([]rune(before[strings.LastIndex(before, "\n")+1:]))
			errs.ReportErrorString(celcommon.NewLocation(1+strings.Count(before, "\n"), column), "unsupported syntax: '`'")
		}
	}
	if len(errs.GetErrors()) == 0 {
		return ""
	}
	return errs.ToDisplayString()
}

// problems formats the errors in an expression like the cel-go version of a real server. It omits the suggestions of later
// versions. If the first part of a qualified name is undeclared, that error is listed first.
func problems(issues *cel.Issues, expression string) string {
	errs := celcommon.NewErrors(celcommon.NewTextSource(expression))
	for _, e := range issues.Errors() {
		m := qualified.FindStringSubmatch(e.Message)
		begin, called := beginning(e.Location, expression, m)
		if begin == nil {
			errs.ReportErrorAtID(e.ExprID, e.Location, "%s", e.Message)
			continue
		}
		errs.ReportErrorAtID(e.ExprID, begin, "undeclared reference to '%s'", m[2])
		if called {
			errs.ReportErrorAtID(e.ExprID, e.Location, "undeclared reference to '%s'", m[3])
		}
	}
	text := undeclared.ReplaceAllString(errs.ToDisplayString(), "$1 (in container '')")
	return noType.ReplaceAllString(text, "$1")
}

// beginning returns the location where an undeclared name begins. The given location, which cel-go reports, is the
// parenthesis of a call a.b.c(…), or else the last dot of a.b.c. names contains the complete name and its first and last
// part. If there is no undeclared name, names is nil.
func beginning(at celcommon.Location, expression string, names []string) (begin celcommon.Location, called bool) {
	lines := strings.Split(expression, "\n")
	if names == nil || at.Line() < 1 || at.Line() > len(lines) {
		return nil, false
	}
	line := []rune(lines[at.Line()-1])
	if at.Column() > len(line) || at.Column() < len(line) && line[at.Column()] == '{' { // the name of a type is looked up as a whole
		return nil, false
	}
	before, name := string(line[:at.Column()]), names[1]
	if called = strings.HasSuffix(before, name); !called {
		name = strings.TrimSuffix(name, "."+names[3])
	}
	if !strings.HasSuffix(before, name) {
		return nil, false
	}
	return celcommon.NewLocation(at.Line(), at.Column()-len([]rune(name))), called
}
