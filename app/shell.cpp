#include "app/shell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "app/new_plugin_command.h"
#include "engine/job/plugin.h"

namespace perrin {
namespace {

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// Text for troff: a dot or quote at the beginning of a line is a request, a backslash an escape,
/// and a hyphen that is typed must be written so.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '-' || c == '\\') out += '\\';
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    out += c == '\\' ? 'e' : c;
  }
  return out;
}

std::string man_of(const CLI::App& command) {
  std::string text =
      fmt::format(".SS {}\n{}\n", escaped(command.get_name()), escaped(command.get_description()));
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_name() == "--help") continue;
    const std::string name =
        option->get_positional() ? option->get_name(true) : option->get_name(false, true);
    text += fmt::format(".TP\n.B {}\n{}\n", escaped(name), escaped(option->get_description()));
  }
  return text;
}

}  // namespace

std::string bash_completion(const CLI::App& app, const std::vector<std::string>& types) {
  std::vector<std::string> commands;
  std::string cases;
  for (const CLI::App* command : app.get_subcommands({})) {
    commands.push_back(command->get_name());
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command->get_name(),
                         fmt::join(option_names(*command), " "));
  }
  return fmt::format(R"(# bash completion of perrin; made by `perrin completion`
_perrin() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{}" -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  local job="" path="" k
  # A path behind --set, or a value behind its "=", which bash takes for a word.
  [ "${{COMP_WORDS[COMP_CWORD-1]}}" != --set ] || path=$word
  if [ "$word" = = ] && [ "${{COMP_WORDS[COMP_CWORD-2]}}" = --set ]; then
    path=${{COMP_WORDS[COMP_CWORD-1]}}= word=""
  elif [ "$COMP_CWORD" -gt 3 ] && [ "${{COMP_WORDS[COMP_CWORD-1]}}" = = ] &&
       [ "${{COMP_WORDS[COMP_CWORD-3]}}" = --set ]; then
    path=${{COMP_WORDS[COMP_CWORD-2]}}=$word
  fi
  if [ -n "$path" ] || [ "${{COMP_WORDS[COMP_CWORD-1]}}" = --set ]; then
    for ((k = 2; k < ${{#COMP_WORDS[@]}}; ++k)); do
      case ${{COMP_WORDS[k-1]}} in --overwrite|--quiet) ;; -*|=) continue ;; esac
      job=${{COMP_WORDS[k]/#\~/$HOME}}
      [ ! -e "$job" ] || break
      job=""
    done
    [ -n "$job" ] || return
    compopt +o filenames -o nospace 2> /dev/null
    mapfile -t COMPREPLY < <("${{COMP_WORDS[0]/#\~/$HOME}}" completion "$job" "$path" 2> /dev/null)
    case $path in *=*)
      [ "$word" = "$path" ] || COMPREPLY=("${{COMPREPLY[@]#*=}}")
      compopt +o nospace 2> /dev/null ;;
    esac
    return
  fi
  [ "${{COMP_WORDS[1]}}" != help ] || words="{}"
  [ "${{COMP_WORDS[1]}}$COMP_CWORD" != new-plugin2 ] || words="{}"
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [ -n "$word" ] && [ "${{word:0:1}}" = - ] || COMPREPLY+=($(compgen -f -- "$word"))
}}
complete -o filenames -F _perrin perrin
)",
                     fmt::join(commands, " "), cases, fmt::join(types, " "),
                     fmt::join(plugin_kinds(), " "));
}

std::string man_page(const CLI::App& app) {
  std::string text = fmt::format(
      ".TH PERRIN 1 \"\" \"Perrin {}\"\n"
      ".SH NAME\nperrin \\- particles in soft matter, on CPU and GPU\n"
      ".SH SYNOPSIS\n.B perrin\n.I COMMAND\n[\\fIARGUMENTS\\fR]\n"
      ".SH DESCRIPTION\nRuns a job file in JSON and writes trajectories (H5MD, GSD, XTC).\n"
      "perrin help explains the settings of a job.\n.SH COMMANDS\n",
      engine_version());
  for (const CLI::App* command : app.get_subcommands({})) text += man_of(*command);
  return text +
         ".SH EXIT STATUS\n.TP\n0\nsuccess, also after SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, "
         "SIGXCPU and \\-\\-time\\-limit, with a checkpoint\n.TP\n2\ninvalid input\n.TP\n3\n"
         "run-time failure\n.TP\n4\ninternal error\n"
         ".SH ENVIRONMENT\n.TP\n.B PERRIN_PLUGIN_PATH\nfolders of plug\\-ins, searched first\n"
         ".TP\n.B PERRIN_ISA\nbaseline or avx2: limits the instruction set of the CPU code\n"
         ".TP\n.B PERRIN_CACHE\nfolder of compiled formulas, not writable by other "
         "users; default: $XDG_CACHE_HOME/perrin, ~/.cache/perrin or, if HOME is not set, "
         "/tmp/perrin\\-UID\n"
         ".TP\n.B PERRIN_COMPILER\ncompiler of formulas; default: the compiler that built Perrin\n"
         ".TP\n.B PERRIN_COMPILER_SECONDS\nlimit of its time (300), after which it is killed\n"
         ".TP\n.B OMP_NUM_THREADS\nthreads on the CPU, unless \\-\\-threads is given\n";
}

}  // namespace perrin
