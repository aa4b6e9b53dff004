package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// seeker is a provider that searches the web for each answer.
type seeker struct {
	provided
	tool    string   // of the request that offers the search
	events  []string // of an answer
	judge   func([]byte) error
	refuses bool

	mu     sync.Mutex
	bodies []string
}

func (s *seeker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/models") {
		_, _ = io.WriteString(w, s.list) // the client may have gone
		return
	}
	body, _ := io.ReadAll(r.Body) // a cut one fails the judge
	s.mu.Lock()
	s.bodies = append(s.bodies, string(body))
	s.mu.Unlock()
	if s.refuses && strings.Contains(string(body), s.tool) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"invalid_request_error","message":"tools.0: 'web_search' is not supported by this model"}}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "data: "+strings.Join(s.events, "\n\ndata: ")+"\n\n")
}

func seekers() []*seeker {
	const sources = `[{"type":"url","url":"https://go.dev/doc"},{"type":"url","url":"https://go.dev/blog"}]`
	search := `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"go release","sources":` + sources + `}}`
	read := `{"type":"web_search_call","id":"ws_2","status":"completed","action":{"type":"open_page","url":"https://go.dev/doc"}}`
	text := `{"type":"message","id":"msg_1","role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"It is out.","annotations":[{"type":"url_citation","url":"https://go.dev/doc","title":"Go docs","start_index":0,"end_index":9}]}]}`
	done := func(n int, item string) string {
		return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, n, item)
	}
	return []*seeker{
		{
			provided: hostedProviders[0], tool: `{"type":"web_search"}`, judge: transcriptjudge.CheckResponses,
			events: []string{
				done(0, `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"enc"}`),
				`{"type":"response.web_search_call.searching","output_index":1,"item_id":"ws_1"}`, done(1, search), done(2, read), done(3, text),
				`{"type":"response.completed","response":{"usage":{"input_tokens":1000,"output_tokens":100,"input_tokens_details":{"cached_tokens":0}}}}`,
			},
		},
		{
			provided: hostedProviders[1], tool: `{"max_uses":5,"name":"web_search","type":"web_search_20250305"}`, judge: transcriptjudge.CheckMessages,
			events: []string{
				`{"type":"message_start","message":{"usage":{"input_tokens":1000,"output_tokens":1}}}`,
				`{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"query\":\"go release\"}"}}`,
				`{"type":"content_block_stop","index":0}`,
				`{"type":"content_block_start","index":1,"content_block":{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://go.dev/doc","title":"Go docs","encrypted_content":"secret","page_age":null},{"type":"web_search_result","url":"https://go.dev/blog","title":"Blog","encrypted_content":"secret"}]}}`,
				`{"type":"content_block_stop","index":1}`,
				`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"","citations":[]}}`,
				`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"It is out."}}`,
				`{"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"https://go.dev/doc","title":"Go docs","encrypted_index":"x","cited_text":"…"}}}`,
				`{"type":"content_block_stop","index":2}`,
				`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":100,"server_tool_use":{"web_search_requests":1}}}`,
				`{"type":"message_stop"}`,
			},
		},
	}
}

// TestWebSearch: the providers' own search is offered at their own address; queries, pages and
// citations are shown, counted, and go back with the next request. web_search: off and a refusal
// end it.
func TestWebSearch(t *testing.T) {
	t.Parallel()
	for _, s := range seekers() {
		t.Run(s.name, func(t *testing.T) {
			d := s.desk(t, s)
			code, out := d.prompted()
			shown := []string{"It is out.", `Searched the web for "go release": 2 results.`, "The answer cites Go docs (https://go.dev/doc)."}
			if s.name == "openai" {
				shown = append(shown, "Read https://go.dev/doc.")
			}
			for _, want := range shown {
				if code != 0 || !strings.Contains(out, want) {
					t.Errorf("no %q, exit status %d: %s", want, code, out)
				}
			}
			code, out = d.command("-c", "-p", "and then?", "--output-format", "json")
			var result struct {
				Usage struct {
					Searches int `json:"web_searches"`
				}
				CostUSD float64 `json:"cost_usd"`
			}
			_, object, _ := strings.Cut(out, "{") // after notices
			if err := json.Unmarshal([]byte("{"+object), &result); err != nil || code != 0 {
				t.Fatalf("%d, %v: %s", code, err, out)
			}
			if want := (1000*s.input+100*s.output)/1e6 + 0.01; result.Usage.Searches != 1 || math.Abs(result.CostUSD-want) > 1e-9 {
				t.Errorf("%+v, want $%v", result, want)
			}
			d.keep("config.yaml", "web_search: off\n")
			if code, out := d.prompted(); code != 0 {
				t.Errorf("exit status %d: %s", code, out)
			}
			d.keep("config.yaml", "")
			s.refuses = true
			for range 2 {
				if code, out := d.prompted(); code != 0 {
					t.Errorf("exit status %d: %s", code, out)
				}
			}
			offers := []bool{true, true, false, true, false, false}
			if len(s.bodies) != len(offers) {
				t.Fatalf("%d requests", len(s.bodies))
			}
			for i, body := range s.bodies {
				if err := s.judge([]byte(body)); err != nil || strings.Contains(body, s.tool) != offers[i] {
					t.Errorf("request %d: %v, offered: want %v in %s", i, err, offers[i], body)
				}
			}
			for _, want := range map[string][]string{
				"openai":    {`"id":"rs_1"`, `"id":"ws_1"`, `"id":"ws_2"`, `"phase":"final_answer"`},
				"anthropic": {`"input":{"query":"go release"}`, `"encrypted_content":"secret"`, "It is out."},
			}[s.name] {
				if !strings.Contains(s.bodies[1], want) {
					t.Errorf("no %s in %s", want, s.bodies[1])
				}
			}
		})
	}
}

// desk returns a desk whose provider is a seeker.
func (s *seeker) desk(t *testing.T, served http.Handler) *desk {
	w := newWorld(t, served)
	d := fresh(t, answers(t))
	d.keep("servers.json", fmt.Sprintf(`[{"address":%q}]`, w.proxy))
	d.env = append(d.env, "OPENAI_BASE_URL=", "HTTPS_PROXY="+w.proxy, "SSL_CERT_FILE="+w.authority, "NO_PROXY=", "no_proxy=", "AGENT_MODEL="+s.name+"/"+s.model)
	for _, known := range config.Hosted {
		d.env = append(d.env, known.KeyEnv+"=")
	}
	d.env = append(d.env, strings.ToUpper(s.name)+"_API_KEY="+hostedKey)
	return d
}

// TestWebSearchInTheTerminal: the terminal shows the query, the answer and its citation.
func TestWebSearchInTheTerminal(t *testing.T) {
	t.Parallel()
	for _, s := range seekers() {
		t.Run(s.name, func(t *testing.T) {
			d := s.desk(t, s)
			d.sit()
			d.say("is it out?")
			d.WaitFor(`(?s)Searched the web for "go release": 2 results\..*It is out\.`)
			d.WaitFor(`The answer cites Go docs \(https://go\.dev/doc\)\.`)
			d.idle()
			d.say("/cost")
			d.WaitFor(`web searches: 1`)
			d.leave()
		})
	}
}

// delegatingSeeker is a provider whose model gives the search to a sub-agent.
type delegatingSeeker struct {
	*seeker
	parent *llmtest.Server
}

func (s delegatingSeeker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a cut one fails the judge
	r.Body = io.NopCloser(bytes.NewReader(body))
	if r.Method == http.MethodGet || bytes.Contains(body, []byte("You are a sub-agent")) {
		s.seeker.ServeHTTP(w, r)
		return
	}
	s.parent.ServeHTTP(w, r)
}

// TestWebSearchOfAHelper: a sub-agent searches as the session does; the query is shown with its work,
// and the search is counted as its own and as the session's, in -p, the terminal and for a host.
func TestWebSearchOfAHelper(t *testing.T) {
	t.Parallel()
	for _, s := range seekers() {
		t.Run(s.name, func(t *testing.T) {
			parent := llmtest.NewServerFunc(t, func(n int, _ []byte) llmtest.Turn {
				if n%2 == 0 {
					return callOf("task", `{"description":"look","prompt":"is it out?"}`)
				}
				return llmtest.Turn{Text: "The helper knows."}
			})
			d := s.desk(t, delegatingSeeker{s, parent})
			code, out := d.command("-p", "is it out?", "--output-format", "stream-json")
			lines := strings.Split(strings.TrimSpace(out), "\n")
			var result struct {
				Usage struct {
					Searches int `json:"web_searches"`
				}
				SubAgents []struct {
					Usage struct {
						Searches int `json:"web_searches"`
					}
					CostUSD float64 `json:"cost_usd"`
				} `json:"sub_agents"`
			}
			if err := json.Unmarshal([]byte(lines[len(lines)-1]), &result); err != nil || code != 0 || len(result.SubAgents) != 1 {
				t.Fatalf("%d, %v: %s", code, err, out)
			}
			own, want := result.SubAgents[0], (1000*s.input+100*s.output)/1e6+0.01
			if result.Usage.Searches != 1 || own.Usage.Searches != 1 || math.Abs(own.CostUSD-want) > 1e-9 || !strings.Contains(out, `Searched the web for \"go release\": 2 results`) {
				t.Errorf("%+v, want $%v: %s", result, want, out)
			}
			d.sit()
			d.say("is it out?")
			d.WaitFor(`(?s)Searched the web for "go release": 2 results\..*The helper knows`)
			d.idle()
			d.say("/cost")
			d.WaitFor(`web searches: 1`)
			d.leave()
			h := d.host()
			h.request("initialize", map[string]any{"protocolVersion": 1})
			id, _ := h.open()
			h.prompt(id, "is it out?", "end_turn")
			seen, err := json.Marshal(h.whole)
			for _, want := range []string{"The helper knows", `Searched the web for \"go release\": 2 results`} {
				if err != nil || !strings.Contains(string(seen), want) {
					t.Errorf("no %q, %v: %s", want, err, seen)
				}
			}
			h.end()
			if len(s.bodies) != 3 {
				t.Errorf("%d requests of helpers", len(s.bodies))
			}
			for _, body := range append(s.bodies, string(parent.Requests()[1])) {
				if err := s.judge([]byte(body)); err != nil || !strings.Contains(body, s.tool) {
					t.Errorf("%v in %s", err, body)
				}
			}
		})
	}
}

// TestWebSearchInACP: a host sees the query and the citation of a search, and the answer.
func TestWebSearchInACP(t *testing.T) {
	t.Parallel()
	for _, s := range seekers() {
		t.Run(s.name, func(t *testing.T) {
			d := s.desk(t, s)
			h := d.host()
			h.request("initialize", map[string]any{"protocolVersion": 1})
			id, _ := h.open()
			h.prompt(id, "is it out?", "end_turn")
			seen, err := json.Marshal(h.whole)
			for _, want := range []string{"It is out.", `go release`, "https://go.dev/doc"} {
				if err != nil || !strings.Contains(string(seen), want) {
					t.Errorf("no %q, %v: %s", want, err, seen)
				}
			}
			h.end()
		})
	}
}

// TestWebSearchOfADefinedHelper: the provider's search is offered to a sub-agent whose definition lists no
// tools, or lists it, and to no other; web_search: off holds for all.
func TestWebSearchOfADefinedHelper(t *testing.T) {
	t.Parallel()
	for _, s := range seekers() {
		t.Run(s.name, func(t *testing.T) {
			parent := llmtest.NewServerFunc(t, func(n int, _ []byte) llmtest.Turn {
				if n%2 == 0 {
					return callOf("task", `{"description":"look","prompt":"is it out?","agent":"seeker"}`)
				}
				return llmtest.Turn{Text: "The helper knows."}
			})
			d := s.desk(t, delegatingSeeker{s, parent})
			for _, c := range []struct {
				tools, config string
				offers        bool
			}{
				{"", "", true},
				{"tools: Read, Grep\n", "", false},
				{"tools: Read, WebFetch\n", "", false},
				{"tools: Read, WebSearch\n", "", true},
				{"tools: '*'\n", "", true},
				{"tools: Read, WebSearch\n", "web_search: off\n", false},
			} {
				d.keep("agents/seeker.md", "---\ndescription: seeks\n"+c.tools+"---\nYou seek.\n")
				d.keep("config.yaml", c.config)
				if code, out := d.prompted(); code != 0 || !strings.Contains(out, "The helper knows") {
					t.Errorf("%+v: exit status %d: %s", c, code, out)
				}
				body, before := s.bodies[len(s.bodies)-1], parent.Requests()
				if err := s.judge([]byte(body)); err != nil || !strings.Contains(body, "You seek.") || strings.Contains(body, s.tool) != c.offers || strings.Contains(body, "web_search_call") != (c.offers && s.name == "openai") {
					t.Errorf("%+v: %v in %s", c, err, body)
				}
				if last := before[len(before)-1]; strings.Contains(string(last), s.tool) != (c.config == "") {
					t.Errorf("%+v: the session's: %s", c, last)
				}
			}
		})
	}
}
