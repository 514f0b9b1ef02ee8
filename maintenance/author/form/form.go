// Package form takes JSON values apart into a skeleton and the texts in it, so
// that the search has to do with texts alone.
//
// The skeleton of ["a", {"b": 2}] is [s,{"b":j}]: s stands for a text, j for a
// number or a truth value, null for itself. Two values of one skeleton differ
// only in their texts. The package writes the starlark expressions that take
// such a value apart and put one together; it searches for nothing.
package form

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"signalbox/maintenance/author/lang"
	"signalbox/rule"
)

// Kind says what a node of a skeleton is.
type Kind byte

// The kinds.
const (
	Text   Kind = 's'
	Scalar Kind = 'j'
	Null   Kind = '0'
	List   Kind = '['
	Object Kind = '{'
)

// Node is a skeleton, or a part of one. Nullable says that null was seen in
// place of a text.
type Node struct {
	Kind     Kind
	Nullable bool
	Keys     []string
	Kids     []*Node
}

// Limits of a value that is taken apart.
const (
	maxLeaves = 40
	maxDeep   = 6
)

// Split returns the skeleton of a value and its texts in order. A number's text
// is its canonical form.
func Split(v rule.Value) (*Node, []string, error) {
	var decoded any
	if err := v.Decode(&decoded); err != nil {
		return nil, nil, err
	}
	var texts []string
	node, err := split(decoded, 0, &texts)
	return node, texts, err
}

func split(v any, depth int, texts *[]string) (*Node, error) {
	if depth > maxDeep || len(*texts) > maxLeaves {
		return nil, fmt.Errorf("a value with more than %d parts or deeper than %d", maxLeaves, maxDeep)
	}
	switch v := v.(type) {
	case nil:
		return &Node{Kind: Null}, nil
	case string:
		*texts = append(*texts, v)
		return &Node{Kind: Text}, nil
	case []any:
		node := &Node{Kind: List}
		return node, node.splitKids(v, depth, texts)
	case map[string]any:
		node := &Node{Kind: Object, Keys: slices.Sorted(maps.Keys(v))}
		var kids []any
		for _, key := range node.Keys {
			kids = append(kids, v[key])
		}
		return node, node.splitKids(kids, depth, texts)
	}
	text, err := rule.Canonical(v)
	*texts = append(*texts, string(text))
	return &Node{Kind: Scalar}, err
}

func (n *Node) splitKids(kids []any, depth int, texts *[]string) error {
	for _, kid := range kids {
		node, err := split(kid, depth+1, texts)
		if err != nil {
			return err
		}
		n.Kids = append(n.Kids, node)
	}
	return nil
}

// String returns the skeleton. Equal strings mean equal skeletons.
func (n *Node) String() string {
	var parts []string
	for i, kid := range n.Kids {
		key := ""
		if n.Kind == Object {
			key = lang.Quote(n.Keys[i]) + ":"
		}
		parts = append(parts, key+kid.String())
	}
	switch n.Kind {
	case List:
		return "[" + strings.Join(parts, ",") + "]"
	case Object:
		return "{" + strings.Join(parts, ",") + "}"
	case Null:
		return "null"
	}
	return string(n.Kind)
}

// Join returns the value of this skeleton with the given texts. It is false
// where a scalar's text is none.
func (n *Node) Join(texts []string) (rule.Value, bool) {
	rest := texts
	value, ok := n.join(&rest)
	if !ok {
		return "", false
	}
	parsed, err := rule.ParseValue([]byte(value))
	return parsed, err == nil
}

func (n *Node) join(rest *[]string) (string, bool) {
	switch n.Kind {
	case Null:
		return "null", true
	case Text, Scalar:
		text := (*rest)[0]
		*rest = (*rest)[1:]
		if n.Kind == Text {
			quoted, err := rule.ValueOf(text)
			return string(quoted), err == nil
		}
		return text, IsScalar(text)
	}
	var parts []string
	for i, kid := range n.Kids {
		part, ok := kid.join(rest)
		if !ok {
			return "", false
		}
		if n.Kind == Object {
			key, _ := rule.ValueOf(n.Keys[i])
			part = string(key) + ":" + part
		}
		parts = append(parts, part)
	}
	if n.Kind == List {
		return "[" + strings.Join(parts, ",") + "]", true
	}
	return "{" + strings.Join(parts, ",") + "}", true
}

// IsScalar says whether text is a plain number, true or false. The library's
// scalar says the same.
func IsScalar(text string) bool { return scalar.MatchString(text) && text != "-0" }

var scalar = regexp.MustCompile(`\A(?:-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{0,8}[1-9])?|true|false)\z`)

// Merge returns the skeleton that both fit, where a text may also be null, and
// false where there is none.
func Merge(a, b *Node) (*Node, bool) {
	if a.Kind == Null && b.Kind == Text || a.Kind == Text && b.Kind == Null {
		return &Node{Kind: Text, Nullable: true}, true
	}
	if a.Kind != b.Kind || len(a.Kids) != len(b.Kids) || !slices.Equal(a.Keys, b.Keys) {
		return nil, false
	}
	merged := &Node{Kind: a.Kind, Nullable: a.Nullable || b.Nullable, Keys: a.Keys}
	for i := range a.Kids {
		kid, ok := Merge(a.Kids[i], b.Kids[i])
		if !ok {
			return nil, false
		}
		merged.Kids = append(merged.Kids, kid)
	}
	return merged, true
}

// Columns returns the texts of a value at the places of this merged skeleton:
// "" for a null where a text may be null. It is false where the value doesn't
// fit, or a scalar is no whole number.
func (n *Node) Columns(v rule.Value) ([]string, bool) {
	var decoded any
	if err := v.Decode(&decoded); err != nil {
		return nil, false
	}
	var list []string
	ok := n.columns(decoded, &list)
	return list, ok
}

func (n *Node) columns(v any, list *[]string) bool {
	switch v := v.(type) {
	case nil:
		if n.Kind == Text && n.Nullable {
			*list = append(*list, "")
		}
		return n.Kind == Null || n.Kind == Text && n.Nullable
	case string:
		*list = append(*list, v)
		return n.Kind == Text
	case float64:
		*list = append(*list, strconv.FormatFloat(v, 'f', -1, 64))
		return n.Kind == Scalar && v == float64(int64(v))
	case []any:
		if n.Kind != List || len(v) != len(n.Kids) {
			return false
		}
		for i, kid := range n.Kids {
			if !kid.columns(v[i], list) {
				return false
			}
		}
		return true
	case map[string]any:
		return n.Kind == Object && len(v) == len(n.Keys) && n.columnsOf(v, list)
	}
	return false
}

func (n *Node) columnsOf(v map[string]any, list *[]string) bool {
	for i, key := range n.Keys {
		value, ok := v[key]
		if !ok || !n.Kids[i].columns(value, list) {
			return false
		}
	}
	return true
}
