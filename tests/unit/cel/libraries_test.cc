// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cel/evaluate.h"

namespace berth::cel {
namespace {

using ::testing::HasSubstr;

TEST(LibrariesTest, Strings) {
  ExpectAll({
      {"'héllo'.charAt(1)", "é"},
      {"'héllo'.charAt(6)", "error: index out of range: 6"},
      {"'a-b-c'.indexOf('-') == 1 && 'a-b-c'.lastIndexOf('-') == 3", "true"},
      {"'a-b-c'.indexOf('-', 2)", "3"},
      {"'ABc'.lowerAscii() + 'ABc'.upperAscii()", "abcABC"},
      {"'aaa'.replace('a', 'b', 2)", "bba"},
      {"'ab'.replace('', '-')", "-a-b-"},
      {"'a,b,c'.split(',')", "[a, b, c]"},
      {"'a,b,c'.split(',', 2)", "[a, b,c]"},
      {"'abc'.split('')", "[a, b, c]"},
      {"'abcdef'.substring(1, 3)", "bc"},
      {"'abcdef'.substring(4, 2)", "error: invalid substring range. start: 4, end: 2"},
      {"' \\t a \\n'.trim()", "a"},
      {"['a', 'b'].join('-')", "a-b"},
      {"strings.quote('a\"b\\n')", "\"a\\\"b\\n\""},
      {"'%s %d %x %b %o'.format([1, 12, 255, 5, 8]) + '%.2f'.format([1234.5])",
       "1 12 ff 101 101,234.50"},
      {"'%s'.format([[1, 2]])", "[1, 2]"},
      {"'%s'.format([{'a': 1.5}])", "{\"a\":1.500000}"},
      {"'%d'.format(dyn(['x']))",
       "error: error during formatting: decimal clause can only be used on integers, was given "
       "string"},
      {"'%e|%.1e'.format([double('NaN'), -1.0 / 0.0])", "   NaN|-\u221E"},
      {"'abc'.matches('^a.c$')", "true"},
      {"'ab12cd345'.find('[0-9]+')", "12"},
      {"'ab12cd345'.findAll('[0-9]+')", "[12, 345]"},
      {"'ab12cd345'.findAll('[0-9]+', 1)", "[12]"},
  });
}

TEST(LibrariesTest, NothingFitsTheAuthorizersFunctions) {
  EXPECT_THAT(Evaluated("'a'.path('b')"), HasSubstr("found no matching overload for 'path'"));
  EXPECT_EQ(Evaluated("dyn('a').path('b').check('get').allowed()"),
            "error: no such overload: path(string, string)");
}

TEST(LibrariesTest, ListsAndSets) {
  ExpectAll({
      {"[1, 2, 3, 4].slice(1, 3)", "[2, 3]"},
      {"[1].slice(0, 2)", "error: cannot slice(0, 2), list is length 1"},
      {"[[1, 2], [3]].flatten()", "[1, 2, 3]"},
      {"[3, 1, 2].sort()", "[1, 2, 3]"},
      {"['bb', 'a', 'ccc'].sortBy(s, size(s))", "[a, bb, ccc]"},
      {"lists.range(3)", "[0, 1, 2]"},
      {"lists.range(1000001)",
       "error: lists.range: size 1000001 exceeds maximum allowed (1000000)"},
      {"lists.range(1000000)", "error: operation cancelled: actual cost limit exceeded"},
      {"[1, 2].reverse()", "[2, 1]"},
      {"[1, 2, 1].distinct()", "[1, 2]"},
      {"sets.contains([1, 2], [2]) && sets.intersects([1], [1, 3])", "true"},
      {"sets.equivalent([1, 1, 2], [2, 1])", "true"},
      {"[1, 3, 2].max() == 3 && [1, 3, 2].min() == 1 && [1, 2].sum() == 3", "true"},
      {"[1, 2].isSorted() && ['b', 'a'].indexOf('a') == 1 && [1, 2].includes(2)", "true"},
      {"[1, 2].transformList(i, v, i * 10 + v)", "[1, 12]"},
      {"{'a': 1}.transformMap(k, v, v + 1)", "{a: 2}"},
      {"['x', 'y'].transformMapEntry(i, v, {v: i})", "{x: 0, y: 1}"},
      {"['x', 'x'].transformMapEntry(i, v, {v: i})", "error: insert failed: key x already exists"},
      {"{'a': 1}.all(k, v, v == 1)", "true"},
  });
}

TEST(LibrariesTest, QuantitiesAndVersions) {
  ExpectAll({
      {"quantity('1Gi').compareTo(quantity('1024Mi'))", "0"},
      {"quantity('1.5').isInteger() || !quantity('200k').isInteger()", "false"},
      {"quantity('1e2147483647').isInteger() || quantity('1e-2147483648').isInteger()", "false"},
      {"quantity('500m').sub(quantity('500m')).sub(quantity('1')).isInteger()", "true"},
      {"quantity('0e30').isInteger() && quantity('12e+3').isInteger()", "true"},
      {"quantity('50k').add(20) == quantity('50020')", "true"},
      {"quantity('50020') == quantity('50k').add(20)", "error: no such overload"},
      {"sign(quantity('50k').sub(quantity('100k')))", "-1"},
      {"quantity('2').asInteger() == 2 && quantity('500m').asApproximateFloat() == 0.5", "true"},
      {"isQuantity('x')", "false"},
      {"semver('1.2.3').isLessThan(semver('1.10.0'))", "true"},
      {"semver('1.2.3-rc.1').compareTo(semver('1.2.3'))", "-1"},
      {"semver('v1.2', true).minor()", "2"},
      {"isSemver('1.2')", "false"},
      {"semver('1.2')", "error: No Major.Minor.Patch elements found"},
  });
}

TEST(LibrariesTest, Addresses) {
  ExpectAll({
      {"string(ip('2001:DB8::0:1'))", "2001:db8::1"},
      {"string(ip('::'))", "::"},
      {"string(ip('1:0:0:2:0:0:0:3'))", "1:0:0:2::3"},
      {"string(ip('::10.0.0.1')) == '::a00:1' && ip('10.0.0.1').family() == 4", "true"},
      {"isIP('10.0.0.01') || isIP('::ffff:1.2.3.4') || isIP('fe80::1%eth0') || isIP('1.2.3')",
       "false"},
      {"ip.isCanonical('::1') && !ip.isCanonical('0::1')", "true"},
      {"ip('127.0.0.1').isLoopback() && ip('169.254.1.1').isLinkLocalUnicast()", "true"},
      {"ip('10.0.0.1').isGlobalUnicast() && ip('224.0.0.1').isLinkLocalMulticast()", "true"},
      {"cidr('10.0.0.0/8').containsIP('10.1.2.3') && "
       "!cidr('10.0.0.0/8').containsIP(ip('11.0.0.1'))",
       "true"},
      {"cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", "true"},
      {"string(cidr('10.1.2.3/12').masked())", "10.0.0.0/12"},
      {"cidr('10.0.0.0/8').ip() == ip('10.0.0.0') && cidr('::/0').prefixLength() == 0", "true"},
      {"isCIDR('10.0.0.0/33') || isCIDR('10.0.0.0')", "false"},
      {"type(ip('::1')) == net.IP", "true"},
  });
}

TEST(LibrariesTest, UrlsAndFormats) {
  ExpectAll({
      {"url('https://user@example.com:80/a%20b?x=1&x=2&y=a+b#f').getHost()", "example.com:80"},
      {"url('https://[::1]:8080/').getHostname() + url('https://[::1]:8080/').getPort()",
       "::18080"},
      {"url('https://a/b%20c').getEscapedPath()", "/b%20c"},
      {"url('https://a/?x=1&x=2&y=a+b').getQuery()", "{x: [1, 2], y: [a b]}"},
      {"isURL('/path') && !isURL('path') && !isURL('https://a:b/')", "true"},
      {"url('x y')",
       "error: URL parse error during conversion from string: parse \"x y\": invalid URI for "
       "request"},
      {"format.dns1123Label().validate('my-name').hasValue()", "false"},
      {"format.dns1123Label().validate('a.b').value()", "[must not contain dots]"},
      {"format.named('uuid').value().validate('x').value()", "[does not match the UUID format]"},
      {"format.date().validate('2024-02-30').hasValue()", "true"},
      {"format.datetime().validate('2024-02-28T10:00:00Z').hasValue()", "false"},
      {"format.byte().validate('aGVsbG8=').hasValue()", "false"},
      {"format.qualifiedName().validate('example.com/Name').hasValue()", "false"},
  });
}

}  // namespace
}  // namespace berth::cel
