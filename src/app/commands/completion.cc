// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_join.h>

#include <string_view>

#include "src/app/command.h"
#include "src/app/commands/commands.h"
#include "src/app/commands/output.h"
#include "src/app/flags/offline_flags.h"

namespace berth::app {
namespace {

// COMMANDS stands for the names of the commands. What follows a flag is a file more often than not.
constexpr std::string_view kBash = R"sh(# bash completion for berth: source <(berth completion bash)
_berth() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='COMMANDS'
  elif [ "$command" = completion ]; then
    words='bash zsh fish kubectl'
  elif [[ $word == -* ]]; then
    words=$("${COMP_WORDS[0]}" "$command" --help 2>/dev/null | sed -nE 's/^ +(-[a-z],)?(--[a-z][a-z0-9-]*).*/\2/p')
  else
    COMPREPLY=()
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _berth berth
)sh";

constexpr std::string_view kZsh = R"sh(#compdef berth
# zsh completion for berth: berth completion zsh > "${fpath[1]}/_berth"
_berth() {
  local command=${words[2]}
  local -a candidates
  if (( CURRENT == 2 )); then
    candidates=(COMMANDS)
  elif [[ $command == completion ]]; then
    candidates=(bash zsh fish kubectl)
  elif [[ ${words[CURRENT]} == -* ]]; then
    candidates=(${(f)"$(${words[1]} $command --help 2>/dev/null | sed -nE 's/^ +(-[a-z],)?(--[a-z][a-z0-9-]*).*/\2/p')"})
  else
    _files
    return
  fi
  compadd -- $candidates
}
if [ "$funcstack[1]" = "_berth" ]; then
  _berth "$@"
else
  compdef _berth berth
fi
)sh";

constexpr std::string_view kFish = R"sh(# fish completion for berth: berth completion fish | source
function __berth_flags
  set -l words (commandline -opc)
  test (count $words) -ge 2; or return
  $words[1] $words[2] --help 2>/dev/null | string match -rg -- '^ +(?:-[a-z],)?(--[a-z][a-z0-9-]*)'
end
complete -c berth -n __fish_use_subcommand -f -a 'COMMANDS'
complete -c berth -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish kubectl'
complete -c berth -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -ct)' -f -a '(__berth_flags)'
)sh";

// kubectl runs kubectl_complete-berth with the words so far, the last of which is being written,
// and reads candidates, one a line, and a directive: 4, no files; 0, files.
constexpr std::string_view kKubectl = R"sh(#!/bin/sh
# kubectl's completion of `kubectl berth`: berth completion kubectl > kubectl_complete-berth,
# executable and in the PATH
command=$1
for word; do :; done
if [ $# -le 1 ]; then
  printf '%s\n' COMMANDS
  echo :4
  exit
fi
case $word in
-*)
  kubectl-berth "$command" --help 2>/dev/null | sed -nE 's/^ +(-[a-z],)?(--[a-z][a-z0-9-]*).*/\2/p'
  echo :4
  ;;
*) echo :0 ;;
esac
)sh";

}  // namespace

int ShowCompletion(const std::vector<std::string>& arguments, const std::string& program) {
  const std::string shell = arguments.size() == 1 ? arguments.front() : "";
  if (shell == "--help" || shell == "-h") {
    WriteOut("Usage: " + program + " bash|zsh|fish|kubectl\n");
    return kDone;
  }
  std::string_view script;
  if (shell == "bash") script = kBash;
  if (shell == "zsh") script = kZsh;
  if (shell == "fish") script = kFish;
  if (shell == "kubectl") script = kKubectl;
  if (script.empty()) return FailWith("which shell? `" + program + " bash`, zsh, fish or kubectl");
  constexpr std::string_view kCommandList = "COMMANDS";
  std::string text(script);
  text.replace(text.find(kCommandList), kCommandList.size(), absl::StrJoin(CommandNames(), " "));
  WriteOut(text);
  return kDone;
}

}  // namespace berth::app
