package author

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
)

// MaxRequest bounds the body of a request, in bytes.
const MaxRequest = 64 << 20

// Handler answers chat completion requests. It is safe for concurrent use.
type Handler struct{ studies studies }

// New returns the built-in author as a model endpoint. It takes POST requests
// to any path that ends with /chat/completions.
func New() *Handler { return &Handler{} }

// ServeHTTP answers one request. What can't be read is a 400 with the reason, in
// the form of OpenAI's errors.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		refuse(w, http.StatusNotFound, fmt.Sprintf("path %q: want /chat/completions", r.URL.Path))
		return
	}
	if r.Method != http.MethodPost {
		refuse(w, http.StatusMethodNotAllowed, "want POST")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxRequest))
	if err != nil {
		refuse(w, http.StatusBadRequest, "reading the request: "+err.Error())
		return
	}
	answer, err := h.answer(body)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	write(w, http.StatusOK, answer)
}

// answer is the whole author: from a request's body to a completion.
func (h *Handler) answer(body []byte) (completion, error) {
	var req request
	if err := decode(body, &req); err != nil {
		return completion{}, fmt.Errorf("reading the request: %w", err)
	}
	if req.Stream {
		return completion{}, fmt.Errorf("this author doesn't stream")
	}
	c, err := follow(req.Messages)
	if err != nil {
		return completion{}, err
	}
	return h.next(c).completion(req, len(body), c.turns)
}

func refuse(w http.ResponseWriter, status int, reason string) {
	write(w, status, map[string]any{"error": map[string]any{"message": reason, "type": "invalid_request_error"}})
}

func write(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"error":{"message":"writing the answer"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data) // the caller has gone: nobody to tell
}
