check 'trim takes spaces off both ends' 'a b' "$(printf '  a b ' | bin/trim)"
