package rule

import (
	"fmt"
	"strings"
	"testing"
)

func schemaOf(t *testing.T, text string) Schema {
	t.Helper()
	var s Schema
	if err := Decode([]byte(text), &s); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if err := s.Check(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// TestSchemaKeywords: each keyword takes one value and refuses another.
func TestSchemaKeywords(t *testing.T) {
	for _, c := range []struct{ schema, fits, not string }{
		{`{"type":"null"}`, `null`, `0`},
		{`{"type":"boolean"}`, `true`, `"true"`},
		{`{"type":"integer"}`, `-3`, `1.5`},
		{`{"type":"integer"}`, `1.0`, `"1"`},
		{`{"type":"integer"}`, `9007199254740992`, `true`},
		{`{"type":"number"}`, `1`, `"1"`},
		{`{"type":"number"}`, `1.5`, `null`},
		{`{"type":"string"}`, `""`, `1`},
		{`{"type":"array"}`, `[]`, `{}`},
		{`{"type":"object"}`, `{}`, `[]`},
		{`{"enum":["a",1,null,{"b":2}]}`, `{"b":2}`, `"b"`},
		{`{"enum":["a",1,null]}`, `null`, `false`},
		{`{"enum":["1"]}`, `"1"`, `1`},
		{`{"enum":[1.50]}`, `1.5`, `2`},
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":"x","b":1}`, `{"a":1}`},
		{`{"properties":{"a":{}},"required":["a"]}`, `{"a":null}`, `{"b":1}`},
		{`{"properties":{"a":{}},"additionalProperties":false}`, `{"a":1}`, `{"a":1,"b":1}`},
		{`{"additionalProperties":false}`, `{}`, `{"":1}`},
		{`{"items":{"type":"integer"}}`, `[1,2]`, `[1,"2"]`},
		{`{"items":{"items":{"type":"null"}}}`, `[[null],[]]`, `[[null],[0]]`},
		{`{"minItems":2}`, `[1,2]`, `[1]`},
		{`{"maxItems":0}`, `[]`, `[1]`},
		{`{"minLength":2}`, `"éé"`, `"é"`},
		{`{"maxLength":2}`, `"éé"`, `"abc"`},
		{`{"pattern":"^a+$"}`, `"aa"`, `"ab"`},
		{`{"pattern":"b"}`, `"abc"`, `"ac"`}, // not anchored, as in JSON Schema
		{`{"minimum":-1.5}`, `-1.5`, `-1.6`},
		{`{"maximum":0}`, `0`, `0.1`},
	} {
		schema := schemaOf(t, c.schema)
		if err := schema.Accepts(Value(c.fits)); err != nil {
			t.Errorf("%s on %s: %v", c.schema, c.fits, err)
		}
		if err := schema.Accepts(Value(c.not)); err == nil {
			t.Errorf("%s takes %s", c.schema, c.not)
		}
	}
}

// TestSchemaKeywordsMindTheirType: a keyword says nothing of other types.
func TestSchemaKeywordsMindTheirType(t *testing.T) {
	schema := schemaOf(t, `{"minLength":5,"pattern":"x","minimum":9,"minItems":3,"properties":{"a":{"type":"null"}},"required":["a"]}`)
	for _, fits := range []Value{"true", "null"} {
		if err := schema.Accepts(fits); err != nil {
			t.Errorf("%s: %v", fits, err)
		}
	}
	for _, not := range []Value{`"x"`, "8", "[1,2]", `{"b":1}`} {
		if err := schema.Accepts(not); err == nil {
			t.Errorf("takes %s", not)
		}
	}
}

func TestZeroSchemaTakesAnyValueButNone(t *testing.T) {
	for _, value := range []Value{"null", "1", `"x"`, "[]", `{"a":[]}`} {
		if err := (Schema{}).Accepts(value); err != nil {
			t.Errorf("%s: %v", value, err)
		}
	}
	if err := (Schema{}).Accepts(""); err == nil {
		t.Error("an absent value fits")
	}
}

func TestSchemaErrorsNameThePlaceAlways(t *testing.T) {
	schema := schemaOf(t, `{"properties":{"a":{"items":{"properties":{"b":{"type":"null"}}}},"z":{"type":"null"}}}`)
	for range 20 { // maps have no order of their own
		err := schema.Accepts(`{"a":[{},{"b":1}],"z":2}`)
		if err == nil || err.Error() != "value.a[1].b: want null, got integer" {
			t.Fatalf("error %v", err)
		}
	}
}

func TestSchemaCheck(t *testing.T) {
	nested := func(n int) string {
		return strings.Repeat(`{"items":`, n) + "{}" + strings.Repeat("}", n)
	}
	wide := func(n int) string {
		var properties []string
		for i := range n {
			properties = append(properties, fmt.Sprintf(`"p%d":{}`, i))
		}
		return `{"properties":{` + strings.Join(properties, ",") + `}}`
	}
	for _, c := range []struct{ name, schema, want string }{
		{"control", `{"type":"object","description":"d"}`, ""},
		{"depth", nested(maxSchemaDepth), ""},
		{"one deeper", nested(maxSchemaDepth + 1), "deeper than 16"},
		{"parts", wide(maxSchemaNodes - 1), ""},
		{"one part more", wide(maxSchemaNodes), "larger than 500"},
		{"pattern", `{"pattern":"` + strings.Repeat("a", maxPattern) + `"}`, ""},
		{"longer pattern", `{"pattern":"` + strings.Repeat("a", maxPattern+1) + `"}`, "longer than 2000"},
		{"bad pattern", `{"pattern":"("}`, "pattern"},
		{"back reference", `{"pattern":"(a)\\1"}`, "pattern"},
		{"bad type", `{"type":"text"}`, `"text"`},
		{"bad type inside", `{"properties":{"a":{"items":{"type":"int"}}}}`, `schema.a[]`},
		{"required without property", `{"required":["a"]}`, `"a" is required`},
	} {
		var schema Schema
		if err := Decode([]byte(c.schema), &schema); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		err := schema.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestSchemaIsBounded: keywords outside the subset are unknown names.
func TestSchemaIsBounded(t *testing.T) {
	for _, text := range []string{`{"$ref":"#"}`, `{"oneOf":[]}`, `{"default":1}`, `{"type":["string","null"]}`, `{"const":1}`,
		`{"patternProperties":{}}`, `{"additionalProperties":{}}`, `{"minLength":1.5}`, `{"enum":[1e400]}`} {
		if err := Decode([]byte(text), &Schema{}); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
	if err := Decode([]byte(`{"enum":[1e4]}`), &Schema{}); err != nil {
		t.Errorf("control: %v", err)
	}
}
