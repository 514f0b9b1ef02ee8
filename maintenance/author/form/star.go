package form

import (
	"fmt"
	"strings"

	"signalbox/maintenance/author/lang"
	"signalbox/rule"
)

// Leaf is a text in a value that is taken apart.
type Leaf struct {
	Path     string // starlark: the value's place
	Name     string // what the args call it
	Kind     Kind
	Nullable bool
}

// Leaves returns the texts of the skeleton, root being the starlark expression
// of the value.
func (n *Node) Leaves(root string) (list []Leaf) {
	n.walk(root, "", func(node *Node, path, name string) {
		if node.Kind == Text || node.Kind == Scalar {
			list = append(list, Leaf{path, name, node.Kind, node.Nullable})
		}
	})
	return list
}

func (n *Node) walk(path, name string, visit func(n *Node, path, name string)) {
	visit(n, path, name)
	for i, kid := range n.Kids {
		step, key := fmt.Sprintf("[%d]", i), fmt.Sprint(i+1)
		if n.Kind == Object {
			step, key = "["+lang.Quote(n.Keys[i])+"]", n.Keys[i]
		}
		if name != "" {
			key = name + "." + key
		}
		kid.walk(path+step, key, visit)
	}
}

// Checks returns starlark expressions that are all true, in this order, exactly
// for the values that Columns takes.
func (n *Node) Checks(root string) (list []string) {
	n.walk(root, "", func(node *Node, path, _ string) {
		switch node.Kind {
		case Null:
			list = append(list, path+" == None")
		case Scalar:
			list = append(list, fmt.Sprintf("type(%s) == \"int\"", path))
		case List:
			list = append(list, fmt.Sprintf("type(%s) == \"list\"", path), fmt.Sprintf("len(%s) == %d", path, len(node.Kids)))
		case Object:
			list = append(list, fmt.Sprintf("type(%s) == \"dict\"", path), fmt.Sprintf("sorted(%s) == [%s]", path, quoteAll(node.Keys)))
		case Text:
			check := fmt.Sprintf("type(%s) == \"string\"", path)
			if node.Nullable {
				check = fmt.Sprintf("type(%s) in (\"string\", \"NoneType\")", path)
			}
			list = append(list, check)
		}
	})
	return list
}

func quoteAll(keys []string) string {
	var quoted []string
	for _, key := range keys {
		quoted = append(quoted, lang.Quote(key))
	}
	return strings.Join(quoted, ", ")
}

// Column returns the starlark expression of the leaf's text.
func (l Leaf) Column() string {
	switch {
	case l.Kind == Scalar:
		return "str(" + l.Path + ")"
	case l.Nullable:
		return l.Path + " or \"\""
	}
	return l.Path
}

// Build returns the starlark expression that puts a value of this skeleton
// together from t, the list of its texts.
func (n *Node) Build() string {
	at := 0
	return n.build(&at)
}

func (n *Node) build(at *int) string {
	switch n.Kind {
	case Null:
		return "None"
	case Text:
		*at++
		return fmt.Sprintf("t[%d]", *at-1)
	case Scalar:
		*at++
		return fmt.Sprintf("json.decode(t[%d])", *at-1)
	}
	var parts []string
	for i, kid := range n.Kids {
		part := kid.build(at)
		if n.Kind == Object {
			part = lang.Quote(n.Keys[i]) + ": " + part
		}
		parts = append(parts, part)
	}
	if n.Kind == List {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// Scalars returns which of the texts are scalars: they must be JSON.
func (n *Node) Scalars() (list []int) {
	for i, leaf := range n.Leaves("") {
		if leaf.Kind == Scalar {
			list = append(list, i)
		}
	}
	return list
}

// Schema returns the schema of the values of this skeleton. It may accept more,
// never less.
func (n *Node) Schema() rule.Schema {
	no := false
	switch n.Kind {
	case Null:
		return rule.Schema{Type: "null"}
	case Text:
		if n.Nullable {
			return rule.Schema{}
		}
		return rule.Schema{Type: "string"}
	case List:
		size := len(n.Kids)
		s := rule.Schema{Type: "array", MinItems: &size, MaxItems: &size}
		if size > 0 && n.uniform() {
			kid := n.Kids[0].Schema()
			s.Items = &kid
		}
		return s
	case Object:
		s := rule.Schema{Type: "object", Properties: map[string]rule.Schema{}, Required: n.Keys, AdditionalProperties: &no}
		for i, key := range n.Keys {
			s.Properties[key] = n.Kids[i].Schema()
		}
		return s
	}
	return rule.Schema{}
}

func (n *Node) uniform() bool {
	for _, kid := range n.Kids {
		if kid.String() != n.Kids[0].String() || kid.Nullable != n.Kids[0].Nullable {
			return false
		}
	}
	return true
}
