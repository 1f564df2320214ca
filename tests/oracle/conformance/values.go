// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// encode is a value as cel_answers reads and writes it; ok: it has that kind of value.
func encode(value ref.Val) (encoded any, ok bool) {
	one := func(kind string, held any) (any, bool) { return map[string]any{kind: held}, true }
	switch v := value.(type) {
	case types.Null:
		return one("null", true)
	case types.Bool:
		return one("bool", bool(v))
	case types.Int:
		return one("int", strconv.FormatInt(int64(v), 10))
	case types.Uint:
		return one("uint", strconv.FormatUint(uint64(v), 10))
	case types.Double:
		return one("double", strconv.FormatFloat(float64(v), 'g', -1, 64))
	case types.String:
		return one("string", hex.EncodeToString([]byte(v)))
	case types.Bytes:
		return one("bytes", hex.EncodeToString(v))
	case types.Duration:
		return one("duration", strconv.FormatInt(int64(v.Duration), 10))
	case types.Timestamp:
		return one("timestamp", v.Time.UTC().Format(time.RFC3339Nano))
	case *types.Type:
		return one("type", v.TypeName())
	case *types.Optional:
		if !v.HasValue() {
			return one("none", true)
		}
		held, ok := encode(v.GetValue())
		return map[string]any{"optional": held}, ok
	case traits.Mapper:
		return encodeMap(v)
	case traits.Lister:
		items := []any{}
		for i := range int64(v.Size().(types.Int)) {
			item, ok := encode(v.Get(types.Int(i)))
			if !ok {
				return nil, false
			}
			items = append(items, item)
		}
		return one("list", items)
	}
	return nil, false
}

func encodeMap(m traits.Mapper) (any, bool) {
	entries := []any{}
	for it := m.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		held := m.Get(key)
		encodedKey, keyOK := encode(key)
		encodedHeld, heldOK := encode(held)
		if !keyOK || !heldOK {
			return nil, false
		}
		entries = append(entries, []any{encodedKey, encodedHeld})
	}
	return map[string]any{"map": entries}, true
}

// canonical is an encoded value as text: equal texts are equal values.
func canonical(encoded any) string {
	switch v := encoded.(type) {
	case map[string]any:
		for kind, held := range v {
			return kind + " " + canonicalHeld(kind, held)
		}
	case []any:
		var texts []string
		for _, item := range v {
			texts = append(texts, canonical(item))
		}
		return fmt.Sprint(texts)
	}
	text, _ := json.Marshal(encoded)
	return string(text)
}

func canonicalHeld(kind string, held any) string {
	switch kind {
	case "double":
		if number, err := strconv.ParseFloat(held.(string), 64); err == nil {
			return strconv.FormatFloat(number, 'g', -1, 64)
		}
	case "timestamp":
		if at, err := time.Parse(time.RFC3339Nano, held.(string)); err == nil {
			return at.UTC().Format(time.RFC3339Nano)
		}
	case "map":
		var entries []string
		for _, entry := range held.([]any) {
			entries = append(entries, canonical(entry))
		}
		slices.Sort(entries)
		return fmt.Sprint(entries)
	}
	return canonical(held)
}
