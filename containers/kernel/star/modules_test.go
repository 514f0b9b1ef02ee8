package star

import "testing"

func TestJSON(t *testing.T) {
	check(t, []row{
		{`json.decode('{"b":[1,2.5,true,null,"x"],"a":{}}')`, `{"a":{},"b":[1,2.5,true,null,"x"]}`},
		{`list(json.decode('{"b":1,"a":2}').keys())`, `["b","a"]`},
		{`[type(v) for v in json.decode('[1, 1.0, 1e2, -0, 123456789012345678901234567890]')]`, `["int","float","float","int","int"]`},
		{`str(json.decode('123456789012345678901234567890'))`, `"123456789012345678901234567890"`},
		{`json.decode(' "\\u00e9\\ud83d\\ude00\\n\\/" ')`, `"é😀\n/"`},
		{`json.decode("[1, 2", default=None)`, `null`},
		{`json.decode("[1, 2", "no")`, `"no"`},
		{`json.decode("[1, 2")`, "error: at offset 5: want , or ]"},
		{`json.decode("")`, "error: unexpected end"},
		{`json.decode("1 2")`, "error: data after"},
		{`json.decode("[1,]")`, "error: unexpected character"},
		{`json.decode("{\"a\":1,}")`, "error: want a name"},
		{`json.decode('{"a":1,"a":2}')`, `error: duplicate name "a"`},
		{`json.decode("01")`, "error: malformed number"},
		{`json.decode("1.")`, "error: malformed number"},
		{`json.decode("+1")`, "error: unexpected"},
		{`json.decode("1e999")`, "error: out of range"},
		{`json.decode("1" * 401)`, "error: more than 400 digits"},
		{`json.decode("NaN", "bad")`, `"bad"`},
		{`json.decode("nulls")`, "error: data after"},
		{`json.decode('"\\ud83d"')`, "error: malformed escape"},
		{`json.decode('"\\ud83d\\u0041"')`, "error: half a surrogate pair"},
		{`json.decode('"a' + "\n" + '"')`, "error: control character"},
		{`json.decode("é"[:1], "bad")`, `"bad"`},
		{`json.decode("[" * 61 + "]" * 61) != None`, `true`},
		{`json.decode("[" * 62 + "]" * 62)`, "error: deeper than 60"},
		{`json.decode(1)`, "error: got int, want string"},

		{`json.encode({"b": [1, 2.0, None, True], "a": "é\"\\\n\t"})`, `"{\"b\":[1,2.0,null,true],\"a\":\"é\\\"\\\\\\n\\t\"}"`},
		{`json.encode({"b": 1, "a": 2}, sort=True)`, `"{\"a\":2,\"b\":1}"`},
		{`json.encode({"a": [1, {}], "b": []}, indent="  ")`, `"{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}"`},
		{`json.encode(1 << 100)`, `"1267650600228229401496703205376"`},
		{`json.encode("\x01\x7f")`, `"\"\\u0001` + "\x7f" + `\""`},
		{`json.encode(float("nan"))`, "error: no JSON number"},
		{`json.encode({1: 2})`, "error: a key is a int"},
		{`json.encode([set([1])])`, "error: [0]: a set is no JSON value"},
		{`json.encode("x" * (4 * 1024 * 1024))`, "error: the limit is"},
		{`json.encode(len)`, "error: builtin_function_or_method is no JSON value"},
	})
}

func TestMath(t *testing.T) {
	check(t, []row{
		{`int(math.round(2.5))`, `3`},
		{`math.ceil(1.2) + math.floor(-1.2)`, `0`},
		{`math.sqrt(2)`, `1.4142135623730951`},
		{`hasattr(math, "random")`, `false`},
	})
}

func TestRe(t *testing.T) {
	check(t, []row{
		{`re.find(r"(\d+)-(\d+)?", "a 12- b")`, `["12-","12",null]`},
		{`re.find(r"x", "abc")`, `null`},
		{`re.full(r"a|ab", "ab")`, `["ab"]`},
		{`re.full(r"a", "a\n")`, `null`},
		{`re.full(r"(?i)A(.)", "aé")`, `["aé","é"]`},
		{`re.find(r"", "")`, `[""]`},
		{`re.find_all(r"\d+", "1 22 333")`, `["1","22","333"]`},
		{`re.find_all(r"x", "abc")`, `[]`},
		{`re.spans(r"é|b", "aéb")`, `[[1,3],[3,4]]`},
		{`re.replace(r"(\w+) (?P<last>\w+)", "${last}, $1$$", "ab cd")`, `"cd, ab$"`},
		{`re.replace(r"(a)|b", "[$1]", "ab")`, `"[a][]"`},
		{`re.replace(r"x*", "-", "abxc")`, `"-a-b-c-"`},
		{`re.replace(r"(a)", "$1x", "a")`, `error: names group "1x"`},
		{`re.replace(r"(a)", "$2", "a")`, `error: names group "2"`},
		{`re.replace(r"(a)", "5$", "a")`, `error: lone dollar`},
		{`re.replace(r"a", "b" * 1000000, "aaaaaa")`, "error: the limit is"},
		{`re.split(r"\s*,\s*", "a , b,c")`, `["a","b","c"]`},
		{`re.split(r",", ",a,")`, `["","a",""]`},
		{`re.split(r",", "abc")`, `["abc"]`},
		{`re.split(r",", "")`, `[""]`},
		{`re.split(r"", "abc")`, `["a","b","c"]`},
		{`re.find(re.escape("a.b*"), "xa.b*")`, `["a.b*"]`},
		{`re.find("(", "a")`, "error: missing closing"},
		{`re.find(r"(a)\1", "aa")`, "error: invalid escape"},
		{`re.find("a" * 2001, "a")`, "error: the limit is 2000"},
		{`re.find("(?:a{100}){10}", "a")`, `null`},
		{`re.find("(?:(?:a{10}b{90}){10}c){10}", "a")`, "error: invalid repeat count"},
		{`re.find("(?:ab?){500}" * 20, "a")`, "error: more than 10000 parts"},
		{`len(re.find_all("()" * 99, "a" * 10000))`, "error: more than 10000 matches"},
		{`len(re.find_all("()" * 99, "a" * 9999))`, `10000`},
		{`re.full("a)|(b", "b")`, "error: unexpected )"},
		{`re.find(1, "a")`, "error: got int, want string"},
		{`re.find("a", None)`, "error: got NoneType, want string"},
	})
}

func TestStrings(t *testing.T) {
	check(t, []row{
		{`strings.length("aé😀")`, `3`},
		{`strings.chars("aé😀")`, `["a","é","😀"]`},
		{`strings.chars("")`, `[]`},
		{`[strings.slice("aéb", 1), strings.slice("aéb", 0, 2), strings.slice("aéb", -2), strings.slice("aéb", 2, 1), strings.slice("aéb", -9, 9)]`, `["éb","aé","éb","","aéb"]`},
		{`strings.slice("aéb", j=-1)`, `"aé"`},
		{`strings.slice("abc", 1 << 70)`, `""`},
		{`strings.slice("abc", -(1 << 70), 1 << 70)`, `"abc"`},
		{`strings.slice("abc", "1")`, "error: i: got string, want int"},
		{`strings.title("o'NEIL-smith  élan 3d")`, `"O'neil-smith  Élan 3D"`},
		{`strings.reverse("aé😀")`, `"😀éa"`},
		{`[strings.pad_left("7", 3, "0"), strings.pad_right("é", 3, "·"), strings.pad_left("abc", 2)]`, `["007","é··","abc"]`},
		{`strings.pad_left("7", -3)`, `"7"`},
		{`strings.pad_left("7", 3, "ab")`, "error: want one character"},
		{`strings.pad_left("7", 3, "")`, "error: want one character"},
		{`strings.pad_right("7", 1 << 30)`, "error: longer than"},
		{`strings.squeeze("  a \t\n b  ")`, `"a b"`},
		{`strings.fields("  a \t b ")`, `["a","b"]`},
		{`[strings.is_space(" \t"), strings.is_space(""), strings.is_space("a ")]`, `[true,false,false]`},
		{`[strings.is_alpha("aé"), strings.is_alpha("a1"), strings.is_alpha("")]`, `[true,false,false]`},
		{`[strings.is_digit("019"), strings.is_digit("٣"), strings.is_digit("-1")]`, `[true,false,false]`},
		{`[strings.is_upper("A1É"), strings.is_upper("Aé"), strings.is_upper("1")]`, `[true,false,false]`},
		{`[strings.is_lower("a1é"), strings.is_lower("aÉ")]`, `[true,false]`},
		{`strings.length("é"[:1])`, "error: not valid UTF-8"},
		{`strings.length("x" * (4 * 1024 * 1024 + 1))`, "error: the limit is 4194304"},
		{`strings.length("x" * (4 * 1024 * 1024))`, `4194304`},
		{`strings.length()`, "error: missing argument for s"},
	})
}

func TestCSV(t *testing.T) {
	check(t, []row{
		{`csv.parse("a,b\r\n\"c,\"\"d\n\",e\n")`, `[["a","b"],["c,\"d\n","e"]]`},
		{`csv.parse("")`, `[]`},
		{`csv.parse("\n")`, `[[""]]`},
		{`csv.parse("a,")`, `[["a",""]]`},
		{`csv.parse("a\n\nb")`, `[["a"],[""],["b"]]`},
		{`csv.parse("a;b;\"c;d\"", sep=";")`, `[["a","b","c;d"]]`},
		{`csv.parse("5\" pipe,x")`, `[["5\" pipe","x"]]`},
		{`csv.parse("a\rb,c\r")`, `[["a\rb","c\r"]]`},
		{`csv.parse("\"a\"\r\n\"b\"")`, `[["a"],["b"]]`},
		{`csv.parse("\"a")`, "error: row 1: a quote is not closed"},
		{`csv.parse("x\n\"a\"b")`, "error: row 2: text after a closing quote"},
		{`csv.parse("\"a", default=[])`, `[]`},
		{`csv.parse("é"[:1], default="bad")`, `"bad"`},
		{`csv.parse("a", sep="ab")`, "error: want one character"},
		{`csv.parse("a", sep="\"")`, "error: want one character"},
		{`csv.parse("aéb", sep="é")`, `[["a","b"]]`},
		{`csv.write([["a", "b,c", "d\"e", 1, 2.5, None], [""], ("x",)])`, `"a,\"b,c\",\"d\"\"e\",1,2.5,\n\"\"\nx\n"`},
		{`csv.write([], sep=";")`, `""`},
		{`csv.write([["a", "b;c"]], sep=";")`, `"a;\"b;c\"\n"`},
		{`csv.write([[]])`, "error: want a list of one field or more"},
		{`csv.write(["ab"])`, "error: a row is a string"},
		{`csv.write([[True]])`, "error: a field is a bool"},
		{`csv.write([["é"[:1]]])`, "error: not valid UTF-8"},
		{`csv.write([["x" * 3000000], ["x" * 3000000]])`, "error: the limit is"},
		{`csv.write(1)`, "error: got int, want list or tuple"},
	})
}

func TestHashAndBase64(t *testing.T) {
	check(t, []row{
		{`hash.sha256("abc")`, `"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"`},
		{`hash.sha1("abc")`, `"a9993e364706816aba3e25717850c26c9cd0d89d"`},
		{`hash.md5(b"abc")`, `"900150983cd24fb0d6963f7d28e17f72"`},
		{`hash.crc32("123456789")`, `"cbf43926"`},
		{`hash.md5(1)`, "error: want string or bytes"},
		{`base64.encode("hé?>")`, `"aMOpPz4="`},
		{`base64.url_encode("hé?>ÿ")`, `"aMOpPz7Dvw=="`},
		{`base64.url_decode("aMOpPz7Dvw")`, `"hé?>ÿ"`},
		{`base64.url_decode("aMOpPz7Dvw==")`, `"hé?>ÿ"`},
		{`base64.decode("aMOpPz4=")`, `"hé?>"`},
		{`base64.decode("aMOpPz4")`, "error: not the base64"},
		{`base64.decode("aMOp\nPz4=", default="bad")`, `"bad"`},
		{`base64.decode("aMOpPz5=", default="bad")`, `"bad"`},
		{`base64.decode("/w==", default=None)`, `null`},
		{`base64.decode(base64.encode(b"\xff"), default="not text")`, `"not text"`},
	})
}
