package args

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

type item struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

type sample struct {
	Path  string `json:"path"`
	Limit int    `json:"limit"`
	All   *bool  `json:"all"`
	Items []item `json:"items"`
}

var params = []Param{
	{Name: "path", Kind: Text, Doc: `a "path"`, Required: true},
	{Name: "limit", Kind: Integer},
	{Name: "all", Kind: Boolean},
	{Name: "items", Schema: `{"type":"array"}`, Members: []string{"content", "status"}},
}

func TestDecode(t *testing.T) {
	yes := true
	tests := []struct {
		in   string
		want sample
	}{
		{`{"path":"a"}`, sample{Path: "a"}},
		{` { "path" : "é😀\u00e9\ud83d\ude00" } `, sample{Path: "é😀é😀"}},
		{`{"path":"","limit":null,"all":true}`, sample{All: &yes}},
		{`{"path":"a","limit":3.0}`, sample{Path: "a", Limit: 3}},
		{`{"path":"a","limit":-2.5e1}`, sample{Path: "a", Limit: -25}},
		{`{"path":"a","limit":-0}`, sample{Path: "a"}},
		{`{"path":"a","limit":9007199254740991}`, sample{Path: "a", Limit: 9007199254740991}},
		{`{"path":"a","items":[{"content":"c","status":"s"}],"limit":-3}`, sample{Path: "a", Limit: -3, Items: []item{{"c", "s"}}}},
	}
	for _, tt := range tests {
		got, err := Decode[sample](params, []byte(tt.in))
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.in, diff)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"nothing", ``, []string{`"path" is missing`, "path (required), limit, all, items"}},
		{"missing", `{"limit":1}`, []string{`"path" is missing`}},
		{"null for a required key", `{"path":null}`, []string{`"path" is missing`}},
		{"unknown", `{"file_path":"a"}`, []string{`no key "file_path"`, `did you mean "path"`}},
		{"unknown, nothing near", `{"path":"a","zzzzz":1}`, []string{`no key "zzzzz"; the keys are: path, limit, all, items`}},
		{"case counts", `{"Path":"a"}`, []string{`no key "Path"`, `did you mean "path"`}},
		{"unknown in an item", `{"path":"a","items":[{"contents":"c"}]}`, []string{`no key "contents"`, `did you mean "content"`, "content, status"}},
		{"twice", `{"path":"a","path":"b"}`, []string{`"path" is given twice`}},
		{"string for integer", `{"path":"a","limit":"5"}`, []string{`"limit" has to be an integer, not a string`}},
		{"fraction", `{"path":"a","limit":1.5}`, []string{`"limit" has to be an integer, not 1.5`}},
		{"too large", `{"path":"a","limit":99999999999999999999}`, []string{`"limit" has to be an integer, not 99999999999999999999`}},
		{"beyond all bounds", `{"path":"a","limit":1e999}`, []string{`"limit" has to be an integer, not 1e999`}},
		{"many digits", `{"path":"a","limit":` + strings.Repeat("9", 99) + `}`, []string{`not ` + strings.Repeat("9", 30) + "…"}},
		{"number for string", `{"path":7}`, []string{`"path" has to be a string, not a number`}},
		{"string for boolean", `{"path":"a","all":"true"}`, []string{`"all" has to be true or false, not a string`}},
		{"object for array", `{"path":"a","items":{}}`, []string{`"items" has to be an array, not an object`}},
		{"string for item", `{"path":"a","items":["x"]}`, []string{`"items/0" has to be an object, not a string`}},
		{"array", `["a"]`, []string{"have to be a JSON object, not an array", "path (required)"}},
		{"string", `"a"`, []string{"have to be a JSON object, not a string"}},
		{"null", `null`, []string{`"path" is missing`}},
		{"cut off", `{"path":"a`, []string{"not valid JSON", "one JSON object"}},
		{"more behind", `{"path":"a"}{"path":"b"}`, []string{"not valid JSON"}},
		{"single quotes", `{'path':'a'}`, []string{"not valid JSON"}},
		{"lone surrogate", `{"path":"a\ud800b"}`, []string{"not valid Unicode", "surrogate pair"}},
		{"lone low surrogate", `{"path":"\udc00"}`, []string{"not valid Unicode"}},
		{"invalid UTF-8", "{\"path\":\"a\xff\"}", []string{"not valid Unicode", "UTF-8"}},
		{"invalid UTF-8 in a key", "{\"pa\xffth\":\"a\"}", []string{"not valid Unicode"}},
		{"surrogate in an unknown key", `{"\ud800":1}`, []string{"not valid Unicode"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Decode[sample](params, []byte(tt.in))
			if err == nil {
				t.Fatal("accepted")
			}
			for _, w := range tt.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q lacks %q", err, w)
				}
			}
		})
	}
}

func TestSchema(t *testing.T) {
	want := `{"type":"object","properties":{"path":{"type":"string","description":"a \"path\""},"limit":{"type":"integer"},"all":{"type":"boolean"},"items":{"type":"array"}},"required":["path"],"additionalProperties":false}`
	if got := string(Schema(params)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := Schema(nil); !json.Valid(got) {
		t.Errorf("%s is not valid JSON", got)
	}
}

// encoding/json accepts everything that Decode accepts, with the same values.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"path":"a"}`, `{"path":"a","limit":1,"all":false,"items":[{"content":"x","status":"y"}]}`, `{"path":"\ud800"}`, `{"path":1}`, `[]`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := Decode[sample](params, in)
		if err != nil {
			if !utf8.ValidString(err.Error()) && utf8.Valid(in) {
				t.Errorf("message is not UTF-8: %q", err)
			}
			return
		}
		var want sample
		if err := json.Unmarshal(in, &want); err != nil {
			t.Fatalf("accepted what is not JSON: %v", err)
		}
		if !utf8.ValidString(got.Path) {
			t.Errorf("invalid text is accepted: %q", got.Path)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s", diff)
		}
	})
}
