# Without the bash-completion package, this takes the place of its function that the
# script below calls. It joins the words that readline has parted at = and :.
if ! declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref()
    {
        local line=$COMP_LINE rest i n=-1
        words=()
        for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
            rest=${line#"${line%%[![:blank:]]*}"}
            if ((i == 0)) || [[ $rest != "$line" ]] ||
                [[ ${COMP_WORDS[i]} != [=:]* && ${words[n]} != *[=:] ]]; then
                n=$((n + 1))
                words[n]=
            fi
            words[n]+=${COMP_WORDS[i]}
            line=${rest#"${COMP_WORDS[i]}"}
            ((i == COMP_CWORD)) && cword=$n
        done
        cur=${words[cword]}
        prev=${words[cword > 0 ? cword - 1 : 0]}
    }
fi

