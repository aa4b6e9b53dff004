package lenient

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestObject(t *testing.T) {
	for name, test := range map[string]struct{ in, want string }{
		"valid":                 {` {"a": 1} `, `{"a": 1}`},
		"trailing commas":       {`{"a":[1,2,],"b":{"c":1,},}`, `{"a":[1,2],"b":{"c":1}}`},
		"single quotes":         {`{'a':'b "c" \'d\''}`, `{"a":"b \"c\" 'd'"}`},
		"line ends in a string": {"{\"a\":\"b\nc\td\r\n\"}", `{"a":"b\nc\td\r\n"}`},
		"Python":                {`{'a':True,'b':False,'c':None,'d':-1.5e3}`, `{"a":true,"b":false,"c":null,"d":-1.5e3}`},
		"keys without quotes":   {`{path: "a", new_content: 'b'}`, `{"path":"a","new_content":"b"}`},
		"no end":                {`{"a":{"b":[1`, `{"a":{"b":[1]}}`},
		"no end, white space":   {"{\"a\":\"b\"\n", `{"a":"b"}`},
		"an end too many":       {"{\"a\":{\"b\":1,}}}\n}", `{"a":{"b":1}}`},
		"object in a string":    {`"{\"a\":\"b\\n\"}"`, `{"a":"b\n"}`},
		"lenient in a string":   {`"{'a':1,}"`, `{"a":1}`},
		"escapes":               {`{'a':'\u00e9\\\/\n'}`, `{"a":"\u00e9\\\/\n"}`},
		"empty":                 {`{}`, `{}`},
		"other characters":      {`{'ä':'世界'}`, `{"ä":"世界"}`},
	} {
		if got, ok := Object(test.in, true); !ok || got != test.want {
			t.Errorf("%s: %q, %v, want %q", name, got, ok, test.want)
		}
	}
}

// TestNoGuess lists texts with two readings, or with none.
func TestNoGuess(t *testing.T) {
	for name, in := range map[string]string{
		"nothing": "", "a list": `[1]`, "a string": `"a"`, "a number": "1", "text": "hello", "text behind": `{"a":1} ok`,
		"two objects": `{"a":1}{"b":2}`, "key twice": `{'a':1,'a':2}`, "quote inside": `{'a':'it's'}`, "quotes inside": `{"a":"say "hi""}`,
		"cut in a string": `{"a":"b`, "cut in a key": `{"a`, "cut after a key": `{"a":`, "cut after a comma": `{"a":1,`, "cut at the beginning": `{`,
		"two commas": `{"a":1,,}`, "comma first": `{,}`, "no comma": `{"a":1 "b":2}`, "unknown escape": `{'a':'\d'}`, "backslash last": `{'a':'\`,
		"half an escape": `{'a':'\u00'}`, "not UTF-8": "{'a':'\xff'}", "words": `{'a':yes}`, "number with a word": `{'a':1px}`, "wrong bracket": `{'a':[1}}`,
		"number as a key": `{1:2}`, "key with a dot": `{a.b:2}`, "deep": strings.Repeat(`{'a':`, 200) + "1" + strings.Repeat("}", 200), "no key": `{:1}`,
		"plus": `{'a':+1}`, "leading zero": `{'a':01}`,
	} {
		if got, ok := Object(in, true); ok {
			t.Errorf("%s: read as %q", name, got)
		}
	}
	for _, in := range []string{`{"a":1`, `{"a":[1]`} {
		if got, ok := Object(in, false); ok {
			t.Errorf("%s, which was cut off: read as %q", in, got)
		}
	}
}

// Each key of a large object is compared with all others at once: comparing them in pairs
// takes this test half a minute.
func TestManyKeys(t *testing.T) {
	var in strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&in, "'key%d':1,", i)
	}
	if _, ok := Object("{"+in.String()+"}", true); !ok {
		t.Error("not read")
	}
	if _, ok := Object("{"+in.String()+"'key7':2}", true); ok {
		t.Error("a repeated key is read")
	}
}

// Valid JSON is returned as it is, and any result is valid.
func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringMatching(`\{("a"|'b'|c):("x"|'y'|1|\{'d':2,?\}|\[1,?\]|tru|True),?("e":2,?)?\}?`).Draw(t, "in")
		got, ok := Object(in, rapid.Bool().Draw(t, "whole"))
		if ok && (!json.Valid([]byte(got)) || !utf8.ValidString(got)) {
			t.Fatalf("%q is no JSON", got)
		}
		if json.Valid([]byte(in)) && (!ok || got != in) {
			t.Fatalf("%q is read as %q", in, got)
		}
	})
}
