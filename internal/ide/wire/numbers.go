package wire

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// numbers gives the requests of a link numbers that no other link uses. The SDK counts
// from 1 on every connection, and some editors answer a question of an earlier link, or
// of another client, to the client that is connected now: with repeated numbers, that
// answer would settle another question.
type numbers struct{ first int64 }

// The range of the first number. Some editors keep only 14 decimal digits, so the
// largest stays below 2^46.
const (
	leastFirst = 1 << 32
	mostFirst  = 1 << 45
)

func newNumbers() numbers {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	n := binary.LittleEndian.Uint64(random[:]) % (mostFirst - leastFirst)
	return numbers{first: leastFirst + int64(n)} //nolint:gosec // n is below 2^45
}

// outgoing returns msg with the number used on the wire.
func (n numbers) outgoing(msg jsonrpc.Message) jsonrpc.Message {
	req, ok := msg.(*jsonrpc.Request)
	if !ok {
		return msg
	}
	out := *req
	if own, ok := req.ID.Raw().(int64); ok {
		out.ID = n.id(n.first + own)
	}
	if req.Method == "notifications/cancelled" {
		out.Params = n.cancelled(req.Params)
	}
	return &out
}

// cancelled renumbers the request in a cancellation.
func (n numbers) cancelled(params json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	var own int64
	if json.Unmarshal(params, &all) != nil || json.Unmarshal(all["requestId"], &own) != nil {
		return params
	}
	number, err := json.Marshal(n.first + own)
	if err != nil {
		return params
	}
	all["requestId"] = number
	data, err := json.Marshal(all)
	if err != nil {
		return params
	}
	return data
}

// take restores the SDK's number of an answer. It returns false if the answer belongs
// to no request of this link. data is the raw message: the SDK reads 7.5 as 7.
func (n numbers) take(resp *jsonrpc.Response, data []byte) bool {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	var number int64
	if json.Unmarshal(data, &m) != nil || json.Unmarshal(m.ID, &number) != nil || number <= n.first {
		return false
	}
	resp.ID = n.id(number - n.first)
	return true
}

func (n numbers) id(number int64) jsonrpc.ID {
	id, err := jsonrpc.MakeID(float64(number))
	if err != nil {
		panic("a number is an id: " + err.Error())
	}
	return id
}
