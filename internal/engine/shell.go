package engine

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// simple is one simple command of a script.
type simple struct{ env, args []string }

// commands lists the simple commands of a script in order, expanded.
func commands(file *syntax.File, script string) []simple {
	var found []simple
	vars := map[string]string{}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.FuncDecl:
			return false // runs elsewhere, or not at all
		case *syntax.DeclClause: // export NAME=value
			assign(vars, node.Args, script)
			return false
		case *syntax.CallExpr:
			env := assign(vars, node.Assigns, script)
			if len(node.Args) > 0 {
				found = append(found, simple{env: env, args: literals(node.Args, vars, script)})
			}
			return false
		}
		return true
	})
	return found
}

// assign keeps the values of assignments and returns them as NAME=value.
func assign(vars map[string]string, assigns []*syntax.Assign, script string) []string {
	var env []string
	for _, a := range assigns {
		if a.Name == nil || a.Array != nil || a.Naked {
			continue
		}
		value := ""
		if a.Value != nil {
			value = literal(a.Value, vars, script)
		}
		vars[a.Name.Value] = value
		env = append(env, a.Name.Value+"="+value)
	}
	return env
}

// literals expands words. An unquoted variable that holds several words gives
// several, as in a shell.
func literals(words []*syntax.Word, vars map[string]string, script string) []string {
	var out []string
	for _, w := range words {
		value := literal(w, vars, script)
		if name, ok := bareVariable(w); ok {
			if _, known := vars[name]; known {
				out = append(out, strings.Fields(value)...)
				continue
			}
		}
		out = append(out, value)
	}
	return out
}

// bareVariable returns the name where a word is one unquoted variable.
func bareVariable(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	p, ok := w.Parts[0].(*syntax.ParamExp)
	if !ok || p.Param == nil {
		return "", false
	}
	return p.Param.Value, true
}

// literal is a word without its quotes. What would need the machine to be known
// (a foreign variable, a command's output, a home folder) stays as written.
func literal(w *syntax.Word, vars map[string]string, script string) string {
	cfg := &expand.Config{Env: values(vars), NoUnset: true}
	if len(w.Parts) > 0 {
		if lit, ok := w.Parts[0].(*syntax.Lit); ok && strings.HasPrefix(lit.Value, "~") {
			return source(w, script)
		}
	}
	for _, part := range w.Parts {
		if !harmless(part) {
			return source(w, script)
		}
	}
	value, err := expand.Literal(cfg, w)
	if err != nil || len(value) > maxServeCommand { // a few doublings fill any memory
		return source(w, script)
	}
	return value
}

// harmless reports whether expanding a part can do nothing but look at values:
// arithmetic could run for ever or assign.
func harmless(part syntax.Node) bool {
	ok := true
	syntax.Walk(part, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp, *syntax.ExtGlob, *syntax.BraceExp:
			ok = false
		case *syntax.ParamExp:
			ok = ok && node.Slice == nil && node.Index == nil && node.Exp == nil && node.Repl == nil &&
				!node.Excl && !node.Length && !node.Width && node.Names == 0
		}
		return ok
	})
	return ok
}

// source is a word as it stands in the text.
func source(w *syntax.Word, script string) string {
	begin, end := int(w.Pos().Offset()), int(w.End().Offset())
	if begin < 0 || end > len(script) || begin > end {
		return ""
	}
	return script[begin:end]
}

// values are the variables a text sets for itself.
type values map[string]string

// Get returns a variable of the text; the process's own environment is not seen.
func (v values) Get(name string) expand.Variable {
	value, set := v[name]
	return expand.Variable{Set: set, Kind: expand.String, Str: value}
}

// Each visits the variables.
func (v values) Each(visit func(string, expand.Variable) bool) {
	for name := range v {
		if !visit(name, v.Get(name)) {
			return
		}
	}
}
