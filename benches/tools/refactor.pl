#!/usr/bin/env perl
# Rewrites one function of a C file, so that it does what it did: refactor.pl KIND FUNCTION <FILE
#
#   renamed    the function, which must be static, has another name
#   outlined   its body is a function of its own, which is all that it calls
#   inlined    it, which must be static, is inlined into its callers, without hooks
#   reordered  it stands at the end of the file
#
# Ends with 1, and writes nothing, where it cannot. The source is one whose definitions begin at the first column, with the
# return type, a space before the parameters, and the brace on the same line, as Lua's do.
use strict;
use warnings;

my ($kind, $name) = @ARGV;
local $/;
my $source = <STDIN>;
my $definition = qr/^((?:[A-Za-z_]\w*[ *]+)+)\Q$name\E \(([^(){};]*)\) \{\n(.*?)^\}\n/ms;
my ($type, $parameters, $body) = $source =~ $definition or exit 1;
my $whole = $&;
my $is_static = $type =~ /\bstatic\b/;
exit 1 if $type =~ /l_noret|inline/ || $parameters =~ /\.\.\./;
my $declaration = "$type$name ($parameters);\n";

if ($kind eq 'renamed') {
    exit 1 unless $is_static;
    $source =~ s/\b\Q$name\E\b(?!\s*:)/${name}_renamed/g;
} elsif ($kind eq 'reordered') {
    $source =~ s/\Q$whole\E/$declaration/;
    $source .= "\n$whole";
} elsif ($kind eq 'inlined') {
    exit 1 unless $is_static;
    (my $always = $whole) =~ s/^/__attribute__((always_inline, no_instrument_function)) inline /;
    $source =~ s/\Q$whole\E/$always/;
} elsif ($kind eq 'outlined') {
    (my $result = $type) =~ s/\b(?:static|LUAI_FUNC|LUA_API|LUALIB_API|LUAMOD_API|extern)\b\s*//g;
    my @arguments;
    for my $parameter ($parameters eq 'void' ? () : split /,/, $parameters) {
        exit 1 if $parameter =~ /\[/ || $parameter !~ /(\w+)\s*$/;
        push @arguments, $1;
    }
    my $returns = $result =~ /^\s*void\s*$/ ? '' : 'return ';
    my $part = "${declaration}static __attribute__((noinline)) $result${name}_part ($parameters) {\n$body}\n";
    my $rest = "$type$name ($parameters) {\n  $returns${name}_part(" . join(', ', @arguments) . ");\n}\n";
    $source =~ s/\Q$whole\E/$part\n$rest/;
} else {
    die "refactor.pl: there is no kind '$kind'\n";
}
print $source;
