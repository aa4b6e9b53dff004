package args

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	yes := true
	for _, tt := range []struct {
		name, in string
		want     sample
		left     []string
	}{
		{"exact", `{"path":"a","limit":5}`, sample{Path: "a", Limit: 5}, nil},
		{"number in a string", `{"path":"a","limit":" 5 "}`, sample{Path: "a", Limit: 5}, nil},
		{"text stays text", `{"path":"5"}`, sample{Path: "5"}, nil},
		{"truth in a string", `{"path":"a","all":"True"}`, sample{Path: "a", All: &yes}, nil},
		{"list in a string", `{"path":"a","items":"[{\"content\":\"c\",\"status\":\"s\"}]"}`, sample{Path: "a", Items: []item{{"c", "s"}}}, nil},
		{"lenient list in a string", `{"path":"a","items":"[{'content':'c','status':'s'},]"}`, sample{Path: "a", Items: []item{{"c", "s"}}}, nil},
		{"file_path", `{"file_path":"a"}`, sample{Path: "a"}, nil},
		{"filePath", `{"filePath":"a"}`, sample{Path: "a"}, nil},
		{"Path", `{"Path":"a","Limit":"5"}`, sample{Path: "a", Limit: 5}, nil},
		{"unknown", `{"path":"a","reason":"because","explanation":{"x":1}}`, sample{Path: "a"}, []string{"reason", "explanation"}},
		{"unknown, and more", `{"filePath":"a","limit":"5","zzz":1}`, sample{Path: "a", Limit: 5}, []string{"zzz"}},
	} {
		got, left, err := Read[sample](params, []byte(tt.in))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, got) + cmp.Diff(tt.left, left); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.name, diff)
		}
	}
}

// TestReadNeverGuesses lists arguments with several readings, or with none.
func TestReadNeverGuesses(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"two paths", `{"path":"a","file_path":"b"}`, `no key "file_path"`},
		{"two aliases", `{"filePath":"a","file_path":"b"}`, `no key "file_path"`},
		{"nearly a key", `{"path":"a","limits":5}`, `did you mean "limit"`},
		{"no number", `{"path":"a","limit":"5px"}`, "has to be an integer"},
		{"a fraction", `{"path":"a","limit":"5.5"}`, "has to be an integer"},
		{"no truth", `{"path":"a","all":"yes"}`, "has to be true or false"},
		{"a word for a list", `{"path":"a","items":"c"}`, "has to be an array"},
		{"cut list in a string", `{"path":"a","items":"[{\"content\":\"c"}`, "has to be an array"},
		{"invalid without the unknown key", `{"zzz":1}`, `no key "zzz"`},
		{"number for text", `{"path":5}`, "has to be a string"},
		{"twice", `{"path":"a","path":"b"}`, "given twice"},
		{"a letter that folds", `{"path":"a","it\u0065m\u017f":[],"items":[]}`, `no key "itemſ"`},
		{"a key in capitals, twice", `{"path":"a","PATH":"b"}`, `no key "PATH"`},
		{"a hidden character", `{"path":"a","pa\u200bth":"b"}`, "no key"},
		{"another separator", `{"path":"a","p-ath":"b"}`, `no key "p-ath"`},
		{"nothing", ``, "is missing"},
		{"a list", `["a"]`, "have to be a JSON object"},
	} {
		_, left, err := Read[sample](params, []byte(tt.in))
		if err == nil || !strings.Contains(err.Error(), tt.want) || left != nil {
			t.Errorf("%s: %v, left out %q", tt.name, err, left)
		}
	}
}
