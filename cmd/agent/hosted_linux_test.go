package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// hostedKey is the key of a hosted provider.
const hostedKey = "sk-of-the-hosted-provider"

// world is a proxy with servers at the real addresses of hosted providers, with
// certificates of an authority of the test's own.
type world struct {
	proxy, authority string // an address, and a file
	served           http.Handler

	mu    sync.Mutex
	hosts map[string]int // connections by host
}

// newWorld starts a world in which served answers all requests.
func newWorld(t *testing.T, served http.Handler) *world {
	t.Helper()
	w := &world{served: served, hosts: map[string]int{}, authority: filepath.Join(t.TempDir(), "authority.pem")}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, h := range config.Hosted {
		u, err := url.Parse(h.BaseURL)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, u.Hostname())
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the test"}, DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	scratch.Write(t, w.authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	inner := httptest.NewUnstartedServer(served)
	inner.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	inner.StartTLS()
	t.Cleanup(inner.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.connect(rw, r, inner.Listener.Addr().String()) }))
	t.Cleanup(proxy.Close)
	w.proxy = proxy.URL
	return w
}

// connect answers CONNECT with a connection to the server at address.
func (w *world) connect(rw http.ResponseWriter, r *http.Request, address string) {
	if r.Method != http.MethodConnect {
		http.Error(rw, "no proxy for this", http.StatusBadRequest)
		return
	}
	w.mu.Lock()
	w.hosts[r.URL.Hostname()]++
	w.mu.Unlock()
	server, err := net.Dial("tcp", address)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusBadGateway)
		return
	}
	client, _, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		_ = server.Close() // nobody uses it
		return
	}
	_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n") // the client may have gone
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1]) // an end of either ends both
			_, _ = way[0].Close(), way[1].Close()
		})
	}
	both.Wait()
}

// provided is a hosted provider: its list of models in the form that it has today, with the one that
// the first start suggests, and that model's facts by hand, in USD for a million tokens.
type provided struct {
	name, model           string
	list                  string
	window                int
	input, output, cached float64
	pictures              bool
}

var hostedProviders = []provided{
	{
		"openai", "gpt-6.1-sol",
		`{"object":"list","data":[{"id":"gpt-4o-mini","object":"model","created":1721172741,"owned_by":"system"},{"id":"whisper-1","object":"model","created":1677532384,"owned_by":"openai-internal"},` +
			`{"id":"gpt-6.1-sol","object":"model","created":1790000000,"owned_by":"system"}]}`,
		1050000, 2, 10, 0.1, true,
	},
	{
		"anthropic", "claude-sonnet-4-6",
		`{"data":[{"type":"model","id":"claude-opus-4-6","display_name":"Claude Opus 4.6","created_at":"2026-02-04T00:00:00Z"},` +
			`{"type":"model","id":"claude-sonnet-4-6","display_name":"Claude Sonnet 4.6","created_at":"2026-02-17T00:00:00Z","max_input_tokens":1000000,"max_tokens":64000,` +
			`"capabilities":{"batch":{"supported":true},"image_input":{"supported":true},"effort":{"supported":true,"high":{"supported":true}}}}],"has_more":false,"first_id":"claude-opus-4-6","last_id":"claude-sonnet-4-6"}`,
		1000000, 3, 15, 0.3, true, // the server's size counts before the table's
	},
	{
		"openrouter", "anthropic/claude-sonnet-4.6",
		`{"data":[{"id":"openrouter/auto","name":"Auto Router","context_length":2000000,"architecture":{"input_modalities":["text","image"]},"pricing":{"prompt":"-1","completion":"-1"}},` +
			`{"id":"anthropic/claude-sonnet-4.6","canonical_slug":"anthropic/claude-4.6-sonnet","created":1771300000,"context_length":900000,"architecture":{"modality":"text+image->text","input_modalities":["text","image"],"output_modalities":["text"]},` +
			`"pricing":{"prompt":"0.0000031","completion":"0.0000155","request":"0","image":"0.0048","input_cache_read":"0.00000031","input_cache_write":"0.00000375"},"top_provider":{"context_length":900000,"max_completion_tokens":64000,"is_moderated":true},"supported_parameters":["tools"]}]}`,
		900000, 3.1, 15.5, 0.31, true,
	},
	{
		"gemini", "models/gemini-4-argon",
		`{"object":"list","data":[{"id":"models/gemini-2.5-flash","object":"model","owned_by":"google","display_name":"Gemini 2.5 Flash"},{"id":"models/gemini-4-argon","object":"model","owned_by":"google"}]}`,
		1048576, 2, 10, 0.1, true,
	},
	{
		"mistral", "mistral-medium-latest",
		`{"object":"list","data":[{"id":"mistral-small-latest","object":"model","created":1790000000,"owned_by":"mistralai","capabilities":{"completion_chat":true,"vision":true},"max_context_length":131072},` +
			`{"id":"mistral-medium-latest","object":"model","created":1790000000,"owned_by":"mistralai","capabilities":{"completion_chat":true,"completion_fim":false,"function_calling":true,"fine_tuning":false,"vision":true,"classification":false},` +
			`"name":"mistral-medium-3-5","description":"…","max_context_length":262144,"aliases":["mistral-medium-3-5"],"deprecation":null,"default_model_temperature":0.7,"type":"base"}]}`,
		262144, 1.5, 7.5, 1.5, true,
	},
	{
		"deepseek", "deepseek-v4-pro",
		`{"object":"list","data":[{"id":"deepseek-v4-flash","object":"model","owned_by":"deepseek"},{"id":"deepseek-v4-pro","object":"model","owned_by":"deepseek"}]}`,
		1000000, 0.435, 0.87, 0.003625, false,
	},
	{
		"xai", "grok-4.5",
		`{"data":[{"id":"grok-4.20","created":1790000000,"object":"model","owned_by":"xai"},{"id":"grok-4.5","created":1790000000,"object":"model","owned_by":"xai"}],"object":"list"}`,
		500000, 2, 6, 0.3, true,
	},
	{
		"groq", "moonshotai/kimi-k2-instruct-0905",
		`{"object":"list","data":[{"id":"whisper-large-v3","object":"model","created":1693721698,"owned_by":"OpenAI","active":true,"context_window":448,"public_apps":null,"max_completion_tokens":448},` +
			`{"id":"moonshotai/kimi-k2-instruct-0905","object":"model","created":1757046093,"owned_by":"Moonshot AI","active":true,"context_window":262144,"public_apps":null,"max_completion_tokens":16384}]}`,
		262144, 1, 3, 0.5, false,
	},
	{
		"together", "Qwen/Qwen3.5-397B-A17B",
		`[{"id":"Qwen/Qwen3.5-397B-A17B","object":"model","created":1790000000,"type":"chat","running":false,"display_name":"Qwen3.5","organization":"Qwen","context_length":262144,` +
			`"config":{"chat_template":null,"stop":[]},"pricing":{"hourly":0,"input":0.6,"output":3.6,"base":0,"finetune":0}},` +
			`{"id":"BAAI/bge-large-embed","object":"model","type":"embedding","context_length":512,"pricing":{"hourly":0,"input":0.02,"output":0}}]`,
		262144, 0.6, 3.6, 0.6, true,
	},
}

// hostedServer is the server of a provider: it counts two bytes as a token and refuses a longer request.
type hostedServer struct {
	provided
	*llmtest.Server
	t *testing.T

	mu      sync.Mutex
	listed  int
	refused int
	usage   *llmtest.Usage // of the next answers; nil: as counted
}

func (h *hostedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+hostedKey && r.Header.Get("X-Api-Key") != hostedKey {
		llmtest.Raw(http.StatusUnauthorized, "application/json", `{"error":{"message":"wrong key"}}`).Handler(w, r)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/models") {
		h.mu.Lock()
		h.listed++
		h.mu.Unlock()
		llmtest.Raw(http.StatusOK, "application/json", h.list).Handler(w, r)
		return
	}
	h.Server.ServeHTTP(w, r)
}

func (h *hostedServer) answer(_ int, body []byte) llmtest.Turn {
	h.mu.Lock()
	defer h.mu.Unlock()
	tokens := len(body) / 2
	if tokens > h.window {
		h.refused++
		return llmtest.Raw(http.StatusBadRequest, "application/json", `{"error":{"message":"prompt is too long","code":"context_length_exceeded"}}`)
	}
	turn := llmtest.Turn{Text: "I have read it."}
	if turn.Usage = h.usage; h.usage == nil {
		turn.Usage = &llmtest.Usage{Input: tokens, Output: 5}
	}
	return turn
}

// TestHostedModels: with a key and nothing else, the model that the first start takes of each hosted
// provider has its size, prices and pictures: /context shows the size, the cost is right, a picture
// is sent if the model takes it, and the conversation is compacted before the server refuses it.
func TestHostedModels(t *testing.T) {
	t.Parallel()
	if len(hostedProviders) != len(config.Hosted) {
		t.Errorf("%d of %d providers", len(hostedProviders), len(config.Hosted))
	}
	for _, p := range hostedProviders {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			h := &hostedServer{provided: p, t: t}
			h.Server = llmtest.NewServerFunc(t, h.answer)
			w := newWorld(t, h)
			shot := gray(t, 12, 8, asPNG)
			d := fresh(t, h.Server)
			d.write("shot.png", string(shot))
			d.keep("servers.json", fmt.Sprintf(`[{"address":%q}]`, w.proxy))
			d.env = append(d.env, "OPENAI_BASE_URL=", "HTTPS_PROXY="+w.proxy, "SSL_CERT_FILE="+w.authority, "NO_PROXY=", "no_proxy=")
			for _, known := range config.Hosted {
				d.env = append(d.env, known.KeyEnv+"=")
			}
			d.env = append(d.env, strings.ToUpper(p.name)+"_API_KEY="+hostedKey)
			d.hostedFirstStart(p)
			d.hostedCost(h, shot)
			d.hostedCompaction(h)
			w.mu.Lock()
			defer w.mu.Unlock()
			if len(w.hosts) != 1 || h.listed != 2 {
				t.Errorf("connections %v, the list was asked for %d times", w.hosts, h.listed)
			}
		})
	}
}

// hostedFirstStart chooses the provider's model, as a person does.
func (d *desk) hostedFirstStart(p provided) {
	d.t.Helper()
	variable := strings.ToUpper(p.name) + "_API_KEY"
	d.begin(100, 40, "config", "model")
	d.WaitFor(`(?s)with the key in ` + variable + `.*Esc exits`)
	d.Type(variable)
	d.WaitFor(`› [A-Za-z: ]+ with the key`)
	d.Press("enter")
	if code := d.Wait(); code != 0 {
		d.t.Errorf("exit status %d", code)
	}
	if kept := d.kept("config.yaml"); !strings.Contains(kept, "model: "+p.name+"/"+p.model+"\n") {
		d.t.Errorf("%s", kept)
	}
}

// hostedCost compares the cost of a request with one computed by hand.
func (d *desk) hostedCost(h *hostedServer, shot []byte) {
	d.t.Helper()
	h.mu.Lock()
	h.usage = &llmtest.Usage{Input: 90000, Cached: 50000, Output: 3000}
	h.mu.Unlock()
	code, out := d.command("-p", "what is in ./shot.png", "--output-format", "json")
	var result struct {
		CostUSD float64 `json:"cost_usd"`
	}
	_, object, _ := strings.Cut(out, "{")
	if err := json.Unmarshal([]byte("{"+object), &result); err != nil || code != 0 {
		d.t.Fatalf("%d, %v: %s", code, err, out)
	}
	want := (40000*h.input + 50000*h.cached + 3000*h.output) / 1e6
	if math.Abs(result.CostUSD-want) > want/100 {
		d.t.Errorf("it cost $%v, want %v", result.CostUSD, want)
	}
	requests := h.Requests()
	if sent := strings.Contains(string(requests[len(requests)-1]), base64.StdEncoding.EncodeToString(shot)); sent != h.pictures {
		d.t.Errorf("the picture was sent: %v", sent)
	}
	h.mu.Lock()
	h.usage = nil
	h.mu.Unlock()
}

// hostedCompaction sends two prompts that do not fit together.
func (d *desk) hostedCompaction(h *hostedServer) {
	d.t.Helper()
	before := len(h.Requests())
	half := strings.Repeat("so much ", h.window*3/20) // of two bytes a token, 0.6 of the window
	cmd := d.program()
	cmd.Stdin = strings.NewReader("one " + half + "\ntwo " + half + "\n/context\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Errorf("%v: %.2000s", err, out)
	}
	if len(h.Requests()) < before+3 || h.refused > 0 {
		d.t.Errorf("%d requests, %d refused: %s", len(h.Requests())-before, h.refused, regexp.MustCompile(`(so much )+`).ReplaceAllString(string(out), "…"))
	}
	if !regexp.MustCompile(fmt.Sprintf(`\b%d\b`, h.window)).MatchString(strings.ReplaceAll(string(out), ",", "")) {
		d.t.Errorf("no window of %d in %s", h.window, regexp.MustCompile(`(so much )+`).ReplaceAllString(string(out), "…"))
	}
}
