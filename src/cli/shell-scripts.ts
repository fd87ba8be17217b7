/**
 * The completion scripts of bash, zsh and fish. They call the `ralph` on the PATH, never the word as it
 * was typed (a TAB must not start `./ralph` of a strange repository), and pass every word as an
 * argument, never through `eval` (a TAB must not run `$(…)` of a half-typed line).
 */
import type { Shell } from './completions.ts';

/** Works from bash 3.2 on, without the bash-completion package. */
const BASH = `# bash completions for ralph. Load them with: source <(ralph completions bash)
_ralph() {
  # bash splits words at = and : as well. Pieces without a space between them are one word again here.
  local rest=\${COMP_LINE:0:COMP_POINT} words=() last=-1 glued='' piece i
  for ((i = 0; i <= COMP_CWORD; i++)); do
    piece=\${COMP_WORDS[i]}
    if ((last >= 0)) && [[ -n $rest && $rest != [[:space:]]* ]]; then
      if ((i == COMP_CWORD)); then piece=$rest; fi
      rest=\${rest#"$piece"}
      glued=\${words[last]}
      words[last]=$glued$piece
      case $piece in '=' | ':') glued=\${words[last]} ;; esac
    else
      rest=\${rest#"\${rest%%[![:space:]]*}"}
      if ((i == COMP_CWORD)); then piece=$rest; fi
      rest=\${rest#"$piece"}
      last=$((last + 1))
      words[last]=$piece
      glued=''
    fi
  done
  local current=\${words[last]} paths='' line value
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $paths ]]; then paths=$line; continue; fi
    value=\${line%%$'\\t'*}
    COMPREPLY+=("\${value#"$glued"}")
  done < <(command ralph __complete bash -- "\${words[@]:1}" 2>/dev/null)
  local kind=''
  case $paths in files) kind=-f ;; folders) kind=-d ;; esac
  if [[ -n $kind ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen $kind -- "\${current#"$glued"}")
  fi
}
complete -F _ralph ralph
`;

const ZSH = `#compdef ralph
# zsh completions for ralph. Load them, after compinit, with: source <(ralph completions zsh)
_ralph() {
  local -a lines found
  local line
  lines=("\${(@f)$(command ralph __complete zsh -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "\${(@)lines[2,-1]}"; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( $#found )); then _describe -V 'ralph' found; fi
  case $lines[1] in
    files | folders)
      if [[ $words[CURRENT] == --*=* ]]; then compset -P '*='; fi
      if [[ $lines[1] == files ]]; then _files; else _files -/; fi
      ;;
  esac
}
if [[ $funcstack[1] == _ralph ]]; then _ralph "$@"; else compdef _ralph ralph; fi
`;

const FISH = `# fish completions for ralph. Load them with: ralph completions fish | source
function __ralph_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    set -l lines (command ralph __complete fish -- $words "$current" 2>/dev/null)
    for line in $lines[2..-1]
        echo $line
    end
    # Paths as fish completes them after a command that it does not know.
    set -l flag (string match -r -- '^--[^=]+=' "$current")
    set -l path (string replace -r -- '^--[^=]+=' '' "$current")
    switch "$lines[1]"
        case files
            for found in (complete -C "'' $path")
                echo "$flag$found"
            end
        case folders
            for found in (complete -C "'' $path" | string match -r -- '.*/$|.*/\\t.*')
                echo "$flag$found"
            end
    end
end
complete -c ralph -e
complete -c ralph -f -k -a '(__ralph_complete)'
`;

export const SCRIPTS: Record<Shell, string> = { bash: BASH, zsh: ZSH, fish: FISH };

/** Where a person puts the line that loads the script. */
export const INSTALL: Record<Shell, string> = {
  bash: `echo 'source <(ralph completions bash)' >> ~/.bashrc`,
  zsh: `echo 'source <(ralph completions zsh)' >> ~/.zshrc   # below compinit`,
  fish: 'ralph completions fish > ~/.config/fish/completions/ralph.fish',
};
