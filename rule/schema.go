package rule

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// Schema is the bounded subset of JSON Schema that a manifest may use. It has
// no references, no combinators and no defaults, so that checking a value costs
// time in proportion to the value. The zero Schema accepts any value.
type Schema struct {
	Type                 string            `json:"type,omitzero"`
	Description          string            `json:"description,omitzero"`
	Enum                 []Value           `json:"enum,omitzero"`
	Properties           map[string]Schema `json:"properties,omitzero"`
	Required             []string          `json:"required,omitzero"`
	AdditionalProperties *bool             `json:"additionalProperties,omitzero"`
	Items                *Schema           `json:"items,omitzero"`
	MinItems             *int              `json:"minItems,omitzero"`
	MaxItems             *int              `json:"maxItems,omitzero"`
	MinLength            *int              `json:"minLength,omitzero"`
	MaxLength            *int              `json:"maxLength,omitzero"`
	Pattern              string            `json:"pattern,omitzero"`
	Minimum              *float64          `json:"minimum,omitzero"`
	Maximum              *float64          `json:"maximum,omitzero"`
}

const (
	maxSchemaDepth = 16
	maxSchemaNodes = 500
	maxPattern     = 2_000
)

var schemaTypes = []string{"", "null", "boolean", "integer", "number", "string", "array", "object"}

// Check returns the first reason why the schema itself can't be used.
func (s Schema) Check() error {
	nodes := 0
	return s.check("", 0, &nodes)
}

func (s Schema) check(at string, depth int, nodes *int) error {
	*nodes++
	switch {
	case depth > maxSchemaDepth || *nodes > maxSchemaNodes:
		return fmt.Errorf("schema%s: larger than %d parts or deeper than %d", at, maxSchemaNodes, maxSchemaDepth)
	case !slices.Contains(schemaTypes, s.Type):
		return fmt.Errorf("schema%s: type %q is not one of JSON's", at, s.Type)
	case len(s.Pattern) > maxPattern:
		return fmt.Errorf("schema%s: pattern is longer than %d bytes", at, maxPattern)
	}
	if _, err := regexp.Compile(s.Pattern); err != nil {
		return fmt.Errorf("schema%s: pattern: %w", at, err)
	}
	for _, name := range s.Required {
		if _, ok := s.Properties[name]; !ok {
			return fmt.Errorf("schema%s: %q is required but not among the properties", at, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		if err := property.check(at+"."+name, depth+1, nodes); err != nil {
			return err
		}
	}
	if s.Items != nil {
		return s.Items.check(at+"[]", depth+1, nodes)
	}
	return nil
}

// Accepts returns nil where the value fits the schema, and otherwise an error
// that names the place. An absent value never fits.
func (s Schema) Accepts(value Value) error {
	if !value.Present() {
		return fmt.Errorf("value is absent")
	}
	var decoded any
	if err := value.Decode(&decoded); err != nil {
		return err
	}
	return s.accepts("value", decoded)
}

func (s Schema) accepts(at string, value any) error {
	if s.Type != "" && !hasType(value, s.Type) {
		return fmt.Errorf("%s: want %s, got %s", at, s.Type, typeOf(value))
	}
	if s.Enum != nil {
		if err := s.acceptsEnum(at, value); err != nil {
			return err
		}
	}
	switch typed := value.(type) {
	case string:
		return s.acceptsString(at, typed)
	case float64:
		return s.acceptsNumber(at, typed)
	case []any:
		return s.acceptsArray(at, typed)
	case map[string]any:
		return s.acceptsObject(at, typed)
	}
	return nil
}

func (s Schema) acceptsEnum(at string, value any) error {
	text, err := ValueOf(value)
	if err != nil {
		return err
	}
	if !slices.Contains(s.Enum, text) {
		return fmt.Errorf("%s: %s is not one of the %d allowed values", at, shorten(string(text)), len(s.Enum))
	}
	return nil
}

func (s Schema) acceptsString(at, text string) error {
	length := len([]rune(text))
	if s.MinLength != nil && length < *s.MinLength || s.MaxLength != nil && length > *s.MaxLength {
		return fmt.Errorf("%s: %d characters are outside the allowed length", at, length)
	}
	if s.Pattern == "" {
		return nil
	}
	pattern, err := regexp.Compile(s.Pattern)
	if err != nil {
		return err
	}
	if !pattern.MatchString(text) {
		return fmt.Errorf("%s: %q doesn't match %q", at, shorten(text), s.Pattern)
	}
	return nil
}

func (s Schema) acceptsNumber(at string, number float64) error {
	if s.Minimum != nil && number < *s.Minimum || s.Maximum != nil && number > *s.Maximum {
		return fmt.Errorf("%s: %v is outside the allowed range", at, number)
	}
	return nil
}

func (s Schema) acceptsArray(at string, items []any) error {
	if s.MinItems != nil && len(items) < *s.MinItems || s.MaxItems != nil && len(items) > *s.MaxItems {
		return fmt.Errorf("%s: %d items are outside the allowed count", at, len(items))
	}
	if s.Items == nil {
		return nil
	}
	for i, item := range items {
		if err := s.Items.accepts(fmt.Sprintf("%s[%d]", at, i), item); err != nil {
			return err
		}
	}
	return nil
}

func (s Schema) acceptsObject(at string, object map[string]any) error {
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			return fmt.Errorf("%s: %q is missing", at, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		property, known := s.Properties[name]
		if !known && s.AdditionalProperties != nil && !*s.AdditionalProperties {
			return fmt.Errorf("%s: unknown property %q", at, shorten(name))
		}
		if !known {
			continue
		}
		if err := property.accepts(at+"."+name, object[name]); err != nil {
			return err
		}
	}
	return nil
}

func hasType(value any, want string) bool {
	got := typeOf(value)
	return got == want || want == "number" && got == "integer"
}

func typeOf(value any) string {
	switch typed := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if typed == float64(int64(typed)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}
