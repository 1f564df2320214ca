// SPDX-License-Identifier: Apache-2.0

package expressions

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// kind is a type that the generator makes expressions of.
type kind int

const (
	boolean kind = iota
	integer
	natural
	double
	text
	octets
	integers
	texts
	table
	duration
	moment
	quantity
	version
	address
	network
	maybeInt
	dyn
	kinds
)

type variable struct {
	name string
	kind kind
}

// Generator makes random expressions, most of which pass the type checker.
type Generator struct {
	*rand.Rand
	scope []variable
	names int
}

// Expression is a random one; derived says that it may be of any type that an attribute may have.
func (g *Generator) Expression() (expression string, derived bool) {
	g.scope, g.names = nil, 0
	derived = g.IntN(3) == 0
	of := boolean
	if derived {
		of = pick(g, boolean, integer, text, version, integers, texts, dyn)
	} else if g.IntN(12) == 0 {
		of = dyn
	}
	expression = g.make(of, 1+g.IntN(5))
	if g.IntN(6) == 0 {
		expression = g.mutate(expression)
	}
	return expression, derived
}

func pick[T any](g *Generator, from ...T) T { return from[g.IntN(len(from))] }

func (g *Generator) make(of kind, depth int) string {
	if depth <= 0 {
		return g.leaf(of)
	}
	if g.IntN(8) == 0 {
		return g.shared(of, depth-1)
	}
	m := func(k kind) string { return g.make(k, depth-1-g.IntN(2)) }
	switch of {
	case boolean:
		return g.boolean(m, depth)
	case integer:
		return g.integer(m, depth)
	case natural:
		return pick(g, g.leaf(natural), m(natural)+pick(g, " + ", " - ", " * ", " / ", " % ")+m(natural),
			"uint("+m(pick(g, integer, double, text))+")")
	case double:
		return pick(g, g.leaf(double), m(double)+pick(g, " + ", " - ", " * ", " / ")+m(double),
			"double("+m(pick(g, integer, natural, text))+")", m(quantity)+".asApproximateFloat()",
			"["+m(double)+", "+m(double)+"]."+pick(g, "max", "min", "sum")+"()")
	case text:
		return g.text(m, depth)
	case octets:
		return pick(g, g.leaf(octets), "bytes("+m(text)+")", m(octets)+" + "+m(octets))
	case integers:
		return g.integers(m, depth)
	case texts:
		return g.texts(m, depth)
	case table:
		return pick(g, g.leaf(table), "{"+m(text)+": "+m(integer)+", "+m(text)+": "+m(integer)+"}",
			"{'a': "+m(integer)+"}", g.loop(m(table), "transformMap", 2, integer, table, depth),
			m(texts)+".transformMapEntry("+"i9, v9, {v9: i9})")
	case duration:
		return pick(g, g.leaf(duration), m(duration)+pick(g, " + ", " - ")+m(duration),
			"("+m(moment)+") - ("+m(moment)+")", "duration("+m(text)+")")
	case moment:
		return pick(g, g.leaf(moment), "("+m(moment)+")"+pick(g, " + ", " - ")+"("+m(duration)+")",
			"timestamp("+m(pick(g, text, integer))+")")
	case quantity:
		return pick(g, g.leaf(quantity), "quantity("+m(text)+")",
			m(quantity)+"."+pick(g, "add", "sub")+"("+m(pick(g, integer, quantity))+")")
	case version:
		return pick(g, g.leaf(version), "semver("+m(text)+pick(g, "", ", true", ", false")+")")
	case address:
		return pick(g, g.leaf(address), "ip("+m(text)+")", m(network)+".ip()")
	case network:
		return pick(g, g.leaf(network), "cidr("+m(text)+")", m(network)+".masked()")
	case maybeInt:
		return pick(g, g.leaf(maybeInt), m(integers)+"[?"+m(integer)+"]", m(table)+"[?"+m(text)+"]",
			m(table)+".?"+pick(g, "a", "b", "c"), m(maybeInt)+".or("+m(maybeInt)+")",
			m(maybeInt)+".optMap(o9, o9 + 1)", m(integers)+"."+pick(g, "first", "last")+"()",
			"optional.ofNonZeroValue("+m(integer)+")", m(maybeInt)+".optFlatMap(o8, optional.of(o8 * 2))")
	default:
		return pick(g, g.leaf(dyn), g.leaf(dyn), "dyn("+g.make(kind(g.IntN(int(dyn))), depth-1)+")",
			"device.attributes["+g.domain()+"]["+m(text)+"]")
	}
}

// shared is what every type has: choices, bindings and errors.
func (g *Generator) shared(of kind, depth int) string {
	switch g.IntN(3) {
	case 0:
		return "(" + g.make(boolean, depth) + " ? " + g.make(of, depth) + " : " + g.make(of, depth) + ")"
	case 1:
		bound := kind(g.IntN(int(dyn)))
		name := g.name()
		init := g.make(bound, depth)
		g.scope = append(g.scope, variable{name, bound})
		defer func() { g.scope = g.scope[:len(g.scope)-1] }()
		return "cel.bind(" + name + ", " + init + ", " + g.make(of, depth) + ")"
	default:
		return "(" + g.make(of, depth) + ")"
	}
}

func (g *Generator) boolean(m func(kind) string, depth int) string {
	comparison := pick(g, " == ", " != ", " < ", " <= ", " > ", " >= ")
	switch g.IntN(16) {
	case 0, 1:
		return "(" + m(boolean) + pick(g, " && ", " || ") + m(boolean) + ")"
	case 2:
		return "!" + pick(g, "(", "(!") + m(boolean) + ")"
	case 3:
		of := pick(g, integer, natural, double, text, octets, duration, moment, boolean)
		return "(" + m(of) + ")" + comparison + "(" + m(of) + ")"
	case 4:
		of := kind(g.IntN(int(kinds)))
		return "(" + m(of) + ")" + pick(g, " == ", " != ") + "(" + m(of) + ")"
	case 5:
		return "(" + m(pick(g, integer, natural, double)) + ")" + comparison + "(" +
			m(pick(g, integer, natural, double)) + ")"
	case 6:
		return pick(g, m(integer)+" in "+m(integers), m(text)+" in "+m(texts), m(text)+" in "+m(table),
			m(dyn)+" in "+m(texts), g.domain()+" in device.attributes", "dyn("+m(pick(g, integer, natural, double))+") in "+
				pick(g, "[1.0, 2.0, 7.0]", "[1, 2, 7]", "[0u, 1u, 5u]", "[9007199254740993, 1]", "[0.5, -1.5]"))
	case 7:
		return m(text) + "." + pick(g, "contains", "startsWith", "endsWith") + "(" + m(text) + ")"
	case 8:
		return m(text) + ".matches(" + g.pattern() + ")"
	case 9:
		return g.loop(m(integers), pick(g, "all", "exists", "exists_one", "existsOne"), 1+g.IntN(2), integer,
			boolean, depth)
	case 10:
		return g.loop(m(texts), pick(g, "all", "exists", "exists_one"), 1, text, boolean, depth)
	case 11:
		return pick(g, "has(device.attributes["+g.domain()+"]."+g.attribute()+")", "has("+m(table)+".a)",
			"has({'a': "+m(integer)+"}.b)", "has(optional.of("+m(table)+")."+pick(g, "a", "z")+")",
			"has({'t': "+m(table)+"}.?t."+pick(g, "a", "z")+")", "has(device.capacity["+g.domain()+"]."+g.capacity()+")",
			"device.attributes["+g.domain()+"].?"+g.attribute()+".hasValue()", m(maybeInt)+".hasValue()")
	case 12:
		return pick(g, m(quantity)+pick(g, ".isGreaterThan(", ".isLessThan(")+m(quantity)+")",
			m(quantity)+".compareTo("+m(quantity)+")"+comparison+"0", m(quantity)+".isInteger()",
			m(version)+pick(g, ".isGreaterThan(", ".isLessThan(")+m(version)+")",
			m(version)+".compareTo("+m(version)+")"+comparison+"0")
	case 13:
		return pick(g, "isQuantity("+m(text)+")", "isSemver("+m(text)+pick(g, "", ", true")+")", "isIP("+m(text)+")",
			"isCIDR("+m(text)+")", "isURL("+m(text)+")", "ip.isCanonical("+m(text)+")",
			m(network)+".containsIP("+m(pick(g, address, text))+")",
			m(network)+".containsCIDR("+m(pick(g, network, text))+")",
			m(address)+pick(g, ".isLoopback()", ".isGlobalUnicast()", ".isLinkLocalUnicast()", ".isUnspecified()"),
			g.format()+".validate("+m(text)+").hasValue()")
	case 14:
		list := pick(g, integers, texts)
		return pick(g, "sets."+pick(g, "contains", "intersects", "equivalent")+"("+m(list)+", "+m(list)+")",
			m(list)+".isSorted()", m(integers)+".includes("+m(integer)+")", m(dyn)+".includes("+m(dyn)+")")
	default:
		return pick(g, g.leaf(dyn)+comparison+m(pick(g, integer, text)), "type("+m(dyn)+") == "+
			pick(g, "int", "string", "bool", "double", "list", "map", "type", "null_type"), "bool("+m(text)+")",
			g.leaf(boolean))
	}
}

func (g *Generator) integer(m func(kind) string, depth int) string {
	switch g.IntN(9) {
	case 0, 1:
		return m(integer) + pick(g, " + ", " - ", " * ", " / ", " % ") + m(integer)
	case 2:
		return "size(" + m(pick(g, text, octets, integers, texts, table)) + ")"
	case 3:
		return "int(" + m(pick(g, natural, double, text, duration, moment)) + ")"
	case 4:
		return m(text) + "." + pick(g, "indexOf(", "lastIndexOf(") + m(text) + pick(g, "", ", "+m(integer)) + ")"
	case 5:
		return m(integers) + pick(g, ".max()", ".min()", ".sum()", ".size()", "["+m(integer)+"]",
			".indexOf("+m(integer)+")", ".lastIndexOf("+m(integer)+")")
	case 6:
		return pick(g, m(table)+"["+m(text)+"]", m(table)+".a", m(maybeInt)+".orValue("+m(integer)+")",
			m(maybeInt)+".value()")
	case 7:
		return pick(g, m(moment)+pick(g, ".getFullYear()", ".getMonth()", ".getDate()", ".getDayOfWeek()",
			".getDayOfYear()", ".getHours('+01:30')", ".getMinutes('UTC')", ".getMilliseconds()"),
			m(duration)+pick(g, ".getHours()", ".getMinutes()", ".getSeconds()", ".getMilliseconds()"))
	default:
		return pick(g, m(quantity)+".asInteger()", "sign("+m(quantity)+")",
			m(version)+pick(g, ".major()", ".minor()", ".patch()"), m(address)+".family()",
			m(network)+".prefixLength()", "-("+m(integer)+")")
	}
}

func (g *Generator) text(m func(kind) string, depth int) string {
	switch g.IntN(9) {
	case 0:
		return m(text) + " + " + m(text)
	case 1:
		return "string(" + m(pick(g, integer, natural, double, boolean, octets, duration, moment, address,
			network, text)) + ")"
	case 2:
		return m(text) + pick(g, ".lowerAscii()", ".upperAscii()", ".trim()", ".charAt("+m(integer)+")",
			".substring("+m(integer)+")", ".substring("+m(integer)+", "+m(integer)+")")
	case 3:
		return m(text) + ".replace(" + m(text) + ", " + m(text) + pick(g, "", ", "+m(integer)) + ")"
	case 4:
		return m(texts) + pick(g, ".join()", ".join("+m(text)+")", "["+m(integer)+"]")
	case 5:
		return m(text) + ".find(" + g.pattern() + ")"
	case 6:
		of := pick(g, integer, text, double, boolean, natural, duration, moment, octets)
		return "'" + pick(g, "%s", "%d", "%f", "%.2f", "%e", "%b", "%x", "%X", "%o", "%%", "%q") + "|" +
			pick(g, "%s", "%d", "") + "'.format([" + m(of) + ", " + m(of) + "])"
	case 7:
		return pick(g, "strings.quote("+m(text)+")", "'%s'.format(["+m(pick(g, integers, texts, table))+"])",
			"url("+m(text)+")"+pick(g, ".getHost()", ".getPort()", ".getScheme()", ".getEscapedPath()"))
	default:
		return "device.driver"
	}
}

func (g *Generator) integers(m func(kind) string, depth int) string {
	switch g.IntN(7) {
	case 0:
		return "[" + m(integer) + ", " + m(integer) + "]"
	case 1:
		return m(integers) + " + " + m(integers)
	case 2:
		return g.loop(m(integers), pick(g, "map", "transformList"), 0, integer, integer, depth)
	case 3:
		return g.loop(m(integers), "filter", 1, integer, boolean, depth)
	case 4:
		return m(integers) + pick(g, ".sort()", ".reverse()", ".distinct()", ".slice("+m(integer)+", "+m(integer)+")",
			".sortBy(s9, -s9)")
	case 5:
		return pick(g, "["+m(integers)+", "+m(integers)+"].flatten()", "lists.range("+m(integer)+")",
			"[?"+m(maybeInt)+", "+m(integer)+"]", "["+m(maybeInt)+"].unwrapOpt()")
	default:
		return g.loop(m(texts), "map", 0, text, integer, depth)
	}
}

func (g *Generator) texts(m func(kind) string, depth int) string {
	switch g.IntN(6) {
	case 0:
		return "[" + m(text) + ", " + m(text) + "]"
	case 1:
		return m(text) + ".split(" + m(text) + pick(g, "", ", "+m(integer)) + ")"
	case 2:
		return m(text) + ".findAll(" + g.pattern() + pick(g, "", ", "+m(integer)) + ")"
	case 3:
		return g.loop(m(texts), "map", 0, text, text, depth)
	case 4:
		return g.loop(m(table), "filter", 1, text, boolean, depth) + ".sort()"
	default:
		return m(texts) + pick(g, ".sort()", ".reverse()", ".distinct()", " + "+m(texts), ".sortBy(s8, size(s8))")
	}
}

// loop is a macro over a list or the keys of a map. `variables`: 1 or 2; 0: as the macro has them.
func (g *Generator) loop(over, macro string, variables int, element, of kind, depth int) string {
	two := variables == 2 || macro == "transformList"
	if macro == "exists_one" || macro == "existsOne" || macro == "all" || macro == "exists" {
		two = variables == 2
	}
	before := len(g.scope)
	names := []string{g.name()}
	if two {
		names = append(names, g.name())
		first := integer
		if macro == "transformMap" {
			first, of = text, integer
		}
		g.scope = append(g.scope, variable{names[0], first}, variable{names[1], element})
	} else {
		g.scope = append(g.scope, variable{names[0], element})
	}
	body := g.make(of, depth-2)
	if (macro == "map" || strings.HasPrefix(macro, "transform")) && g.IntN(3) == 0 {
		body = g.make(boolean, depth-2) + ", " + body
	}
	g.scope = g.scope[:before]
	return over + "." + macro + "(" + strings.Join(names, ", ") + ", " + body + ")"
}

func (g *Generator) name() string {
	g.names++
	return "v" + strconv.Itoa(g.names)
}

func (g *Generator) domain() string {
	return pick(g, "'gpu.example.com'", "'other.example.com'", "'missing.example.com'", "device.driver")
}

func (g *Generator) attribute() string { return pick(g, AttributeNames...) }
func (g *Generator) capacity() string  { return pick(g, CapacityNames...) }

func (g *Generator) pattern() string {
	return pick(g, "'a+'", "'^[a-z]*$'", "'(x|y)?'", "'.'", "''", "'[0-9]+'", "'\\\\bA'", "device.driver", "'('", "'é'", "'(?<n>[a-c])+'",
		"'(?P<n>a)|(?<n>b)'", "'\\\\p{Letter}+'", "'(?i)k'", "'\\\\C'", "'a**'", "'\\\\B'")
}

func (g *Generator) format() string {
	return "format." + pick(g, "dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "labelValue", "uri",
		"uuid", "byte", "date", "datetime", "dns1123LabelPrefix") + "()"
}

func (g *Generator) leaf(of kind) string {
	var known []string
	for _, v := range g.scope {
		if v.kind == of {
			known = append(known, v.name)
		}
	}
	if len(known) > 0 && g.IntN(2) == 0 {
		return pick(g, known...)
	}
	attribute := "device.attributes[" + g.domain() + "]." + g.attribute()
	switch of {
	case boolean:
		return pick(g, "true", "false", "device.allowMultipleAllocations", attribute, "1 / 0 == 1")
	case integer:
		return pick(g, "0", "1", "2", "-1", "7", "100", "9223372036854775807", "-9223372036854775808", "0x1F",
			attribute, "3")
	case natural:
		return pick(g, "0u", "1u", "5u", "18446744073709551615u", "0xFu")
	case double:
		return pick(g, "0.0", "1.0", "-1.5", "2.5e10", "1e300", "1e-9", ".5", "double('NaN')", "123456.789", "1.0e21")
	case text:
		return pick(g, "''", "'a'", "'abc'", "'héllo'", "'a,b,c'", "'1'", "'1.2.3'", "'10.0.0.1'", "'10.0.0.0/8'",
			"'1Gi'", "'500m'", "'https://example.com:80/a%20b?x=1'", "'true'", "'1h30m'", "'2024-02-29T12:30:45.5Z'",
			`"\u00e9\n"`, "r'\\d'", "'''x'y'''", "'::1'", "'A100'", "device.driver", attribute, "'1e3'", "'v1.02'",
			"'2024-02-30'", "'aGVsbG8='")
	case octets:
		return pick(g, "b''", "b'abc'", `b'\xff\000'`, "b'é'")
	case integers:
		return pick(g, "[]", "[1, 2, 3]", "[3, 1, 2, 3]", "[0]", attribute, "[9223372036854775807, 1]")
	case texts:
		return pick(g, "['a', 'b']", "['b', 'a', 'b']", "[]", "['']", attribute)
	case table:
		return pick(g, "{'a': 1}", "{'a': 1, 'b': 2}", "{}", "{'c': 0, 'a': -1}")
	case duration:
		return pick(g, "duration('1h')", "duration('90s')", "duration('-1.5s')", "duration('0')", "duration('2540400h')")
	case moment:
		return pick(g, "timestamp('2024-02-29T12:30:45.5Z')", "timestamp(0)", "timestamp('0001-01-01T00:00:00Z')",
			"timestamp('9999-12-31T23:59:59.999999999Z')", "timestamp('2023-06-01T00:00:00+02:00')")
	case quantity:
		return pick(g, "quantity('1Gi')", "quantity('500m')", "quantity('0')", "quantity('-1.5')", "quantity('1e3')",
			"device.capacity["+g.domain()+"]."+g.capacity())
	case version:
		return pick(g, "semver('1.2.3')", "semver('1.2.3-rc.1')", "semver('0.0.1+b')", "semver('10.0.0')")
	case address:
		return pick(g, "ip('10.0.0.1')", "ip('::1')", "ip('2001:db8::1')", "ip('127.0.0.1')", "ip('fe80::1')")
	case network:
		return pick(g, "cidr('10.0.0.0/8')", "cidr('10.1.2.3/16')", "cidr('2001:db8::/32')", "cidr('0.0.0.0/0')")
	case maybeInt:
		return pick(g, "optional.none()", "optional.of(1)", "optional.of(0)", "{'a': 1}.?a", "{'a': 1}.?b", "[1][?0]")
	default:
		return pick(g, attribute, attribute, "dyn(1)", "dyn('a')", "dyn(1.0)", "dyn([1])", "dyn({'a': 1})", "dyn(null)",
			"dyn(device)")
	}
}

// mutate spoils an expression a little.
func (g *Generator) mutate(expression string) string {
	runes := []rune(expression)
	at := g.IntN(len(runes))
	switch g.IntN(6) {
	case 0:
		return string(runes[:at]) + string(runes[at+1:])
	case 1:
		return string(runes[:at])
	case 2:
		return string(runes[:at]) + pick(g, "(", ")", "'", "\"", ".", "?", "[", "]", "{", "}", "+", "-", "!", "1", "x", " ",
			"\n", "é", "&&", "in", "//", "`") + string(runes[at:])
	case 3:
		return strings.Replace(expression, pick(g, "int", "string", "1", "'a'", "size", "true"),
			pick(g, "dyn", "uint", "2u", "1.0", "null", "b'x'", "[]"), 1)
	case 4:
		return strings.Replace(expression, pick(g, " + ", " == ", " < ", " && "), pick(g, " - ", " != ", " || ", " in "), 1)
	default:
		return fmt.Sprintf("%s%s%s", expression, pick(g, " == ", " + ", " && "), g.leaf(kind(g.IntN(int(kinds)))))
	}
}
