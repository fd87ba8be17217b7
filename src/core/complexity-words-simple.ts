/**
 * The words of one small change in one place: a text, a name, a value, something that goes. Weights as in
 * `complexity-words-ui.ts`. What weighs 3 in a title also makes lighter what the title is about:
 * a typo on the dashboard is a typo.
 */
import type { Family } from './complexity-index.ts';

export const SIMPLE_WORDS: Family[] = [
  // The law's own.
  [1, 'fix, update, refactor, add'],
  // One word or sentence that people read is another.
  [
    4,
    `typo, spelling, misspelled, misspelt, misspelling, wording, reword, rephrase, spelling mistake,
     grammar mistake, capitalisation, capitalization, capitalise, capitalize, lower case, lowercase,
     uppercase, upper case, punctuation, comma, apostrophe in, full stop, exclamation mark,
     trailing space, trailing slash, trailing whitespace, umlaut in, copy text, button text, button label,
     tooltip text, label text, link text, alt text, placeholder text, help text`,
  ],
  [
    3,
    `error message, log message, log line, success message, wrong text, text says, still says,
     still shows, wrong word, wrong label, wrong title, wrong colour, wrong color, wrong icon, wrong link,
     wrong sign, wrong symbol, page title, window title, subject line, greeting, greeted, salutation,
     thank you text, caption, mention, mentions, readme, changelog, docs, docstring, code comment,
     doc comment, broken link, dead link, example in the docs, faq entry, copyright, footer, favicon,
     licence header, license header, license field, licence field, imprint, disclaimer`,
  ],
  [
    2,
    `wrong, incorrect, missing, misplaced, outdated, obsolete, label, placeholder, headline, plural,
     singular, says, currency symbol, currency sign, symbol, date format, decimal, decimals,
     decimal places, rounded, rounding, abbreviation`,
  ],
  // One thing is called otherwise, or goes.
  [4, '^rename, unused, dead code, unused import, dead feature flag, commented out'],
  [
    3,
    `^remove, ^drop, ^delete, delete the old, get rid of, no longer needed, leftover, console log,
     debug print, print statement, deprecated, deprecation, deprecation warning, ^silence, ^suppress,
     ^unhide, ^inline, ^tidy, clean up, cleanup, ^prune`,
  ],
  [
    2,
    `^extract, alias, short form, move to its own, reorder imports, import order, gitignore, editorconfig,
     prettier`,
  ],
  // One value is another.
  [
    4,
    `^bump, default value, magic number, hard coded, hardcoded, off by one, one liner, version number,
     null check, log level, feature flag, config flag, upload limit, quick win, trivial, one line,
     one constant, in one place`,
  ],
  [
    3,
    `constant, instead of, rather than, null pointer, npe, nullpointerexception, null reference,
     undefined, nan, exit code, environment variable, env var, config value, from the environment,
     healthcheck, health check, health path, package json, cargo toml, pyproject, makefile, values file,
     prod values, staging url, content type header, turn off, switch off, turn on, raise the, lower the,
     increase the, decrease the, reduce the, shorten, set the default, default to, defaults to, default,
     set to, make optional, optional, nullable, required field, read only, ^adjust, minimum version,
     maximum length, max length, minimum length, at most, at least n characters, characters`,
  ],
  [
    2,
    `^disable, ^enable, ^ignore, ^stop, ^correct, ^swap, ^replace deprecated, ^reduce, ^give, ^point,
     ^round, ^lower, ^raise, ^close file, ^align the, correct the, lacks, stop logging, in bold, bold,
     too long, too short, case insensitive, should be, update dependency, dependency update, deps,
     ^upgrade, ^pin, unpin, ^revert, newline, cap, ^cap, must be, now main, broken image,
     thousands separator, thousand separators, aria label, the old page, the new host, should not allow,
     as deprecated, alte seite, zeigt auf, ersetze, durch, ancienne adresse, adresse erronée, puerto,
     lint, eslint, whitespace, indentation, formatting, sort, sorted, alphabetically, alphabetical,
     order of, sort order, longer, shorter, larger, smaller, milliseconds, seconds to, minutes, character,
     colour of, color of, orange, red, ^hide, noisy, constant for, link to, points to, leads to, redirect,
     ^accept, ^trim, fallback, iso date, time format, time zone name, font weight, opacity, z index,
     ^expose, getter, typo in, tiny, minor, missing translation, translation of, copyright year, the copy`,
  ],
  [
    1,
    `version, minimum, maximum, link, null, setting, path, url, flag, filename, tooltip, badge, text,
     only, just, small, ^change, ^show, ^return, ^print, ^use, ^make, ^let, ^set, ^allow, ^replace, ^move,
     ^sort, suffix, printed`,
  ],
  [0.5, 'field, name, names, title, message, log, returns, heading'],
  // A small thing here or there.
  [
    3,
    `leading zero, leading zeros, comes last, comes first, to the end of, to the top of, to the bottom of,
     n a, samesite, in red, in green, in italics, test matrix, leap year, double space, line ending,
     empty line, blank line, wrong order, wrong year, wrong unit, wrong name, wrong format, wrong case,
     wrong default, missing unit, missing space, missing comma, missing label, missing title,
     missing link, missing header, old name, new name, old address, old logo, one more, one less,
     twice as, no longer says, no longer shows, instead says, cookie flag, response header, cache header`,
  ],
  [
    2,
    `expires after, british spelling, from stdin, base image, in all texts, wrong page, wrong address,
     gone, twice in, file handle, dash, dashes, hyphen, underscore, prefix with, suffix with, units,
     unit of, first letter, full name, short name, initials, successfull, recieve, seperate, adress,
     occured, teh, now called, is called, spelled, spelt, lower bound, upper bound, symbole, symbole €,
     anrede, lauten, lautet, soll heißen, heißt jetzt, groß geschrieben, kleinschreibung, großschreibung,
     logo antiguo, se llama, mayúscula, mayúsculas, minúscula, s appelle, majuscule, majuscules,
     minuscule, minuscules`,
  ],
  [
    2.5,
    `^wrong, ^typo, ^deprecate, configurable, ^uppercase, ^lowercase, ^log, ^pluralise, ^pluralize,
     ^reword, ^lengthen`,
  ],
  // What a newcomer is given first.
  [
    3,
    `meta description, meta tag, robots txt, canonical tag, noindex, alt attribute, hint text,
     country code, default country, default language, default sort, default tab, page size,
     items per page, retry count, port number, host name, base url, api url, support address, sender name,
     sender address, reply to, copyright notice, codeowners, nvmrc, dockerignore, tsconfig,
     unused variable, unused dependency, dead branch, todo comment, stray, extra space, missing semicolon,
     missing await, missing return, wrong import, import path, swapped arguments, inverted condition,
     default argument, enum value, typo fix, doc fix, wrong way round, wrong variable, unit label,
     time unit, contact address, email signature, in the readme, code style, good first issue,
     one character, one word, one letter, single line, two lines, hint at, config option, config key,
     compiler warning, lint warning, lint error, build warning, type annotation, return type, type hint,
     access modifier, final newline, tab width, file extension, file mode, executable bit, shebang`,
  ],
  // German.
  [
    4,
    `tippfehler, typfehler, vertipper, rechtschreibfehler, schreibfehler, umbenennen, umbenannt,
     umbenennung, beschriftung, -beschriftung`,
  ],
  [
    3,
    `veraltete, veralteter, veraltetes, falsch geschrieben, fehlermeldung, wortlaut, überflüssig,
     überflüssige, unbenutzt, unbenutzte, entfernen, streichen, impressum, standardsprache, standardwert,
     vorgabewert, voreinstellung, anheben, erhöhen, senken, verkürzen, verlängern, statt, anstatt,
     anpassen, ausblenden, abschalten, deaktivieren, einschalten, heraufsetzen, hochsetzen, herabsetzen,
     fußzeile, steuersatz`,
  ],
  [
    2,
    `löschen, korrigieren, beheben, aktualisieren, hinzufügen, ändern, ergänzen, hinweistext, überschrift,
     falsche, falscher, falsches, fehlt, fehlende, fehlender, fehlendes, konstante, knopf, sortieren,
     verständlicher, farbe, umlaut`,
  ],
  // French.
  [
    4,
    `faute de frappe, faute, coquille, orthographe, renommer, libellé, intitulé, formulation,
     valeur par défaut`,
  ],
  [
    3,
    `message d erreur, inutilisé, inutilisée, inutilisés, retirer, supprimer, enlever, au lieu de,
     augmenter, réduire, désactiver, activer, masquer, mentions légales, pied de page, lien mort,
     lien cassé, allonger, raccourcir`,
  ],
  [
    2,
    `corriger, ajouter, mettre à jour, changer, modifier, remplacer, couleur du, couleur de, lien, texte,
     constante, manquant, erroné, erronée, mauvais, mauvaise, trier, bouton, numéro de version, ancien,
     ancienne`,
  ],
  // Spanish.
  [
    4,
    `errata, erratas, error tipográfico, error ortográfico, ortografía, renombrar, cambiar el nombre,
     valor por defecto, valor predeterminado, redacción, falta de ortografía`,
  ],
  [
    3,
    `mensaje de error, sin usar, eliminar, quitar, borrar, en lugar de, en vez de, aumentar, reducir,
     desactivar, activar, ocultar, pie de página, enlace roto, acortar, alargar, subir el límite,
     aviso legal`,
  ],
  [
    2,
    `corregir, actualizar, añadir, agregar, cambiar, modificar, texto, etiqueta, enlace, color del,
     color de, incorrecto, incorrecta, falta, ordenar, botón, campo, antiguo, antigua`,
  ],
  // Italian, Portuguese, Dutch, Russian, Japanese, Chinese.
  [
    4,
    `rinominare, refuso, errore di battitura, renomear, erro de digitação, hernoemen, typefout, опечатка,
     опечатку, переименовать, 誤字, 誤字脱字, 名前変更, 改名, 错别字, 重命名`,
  ],
  [
    3,
    `rimuovere, aggiornare, correggere, remover, atualizar, corrigir, verwijderen, bijwerken, удалить,
     исправить, rodapé, texto do, testo del, etichetta, etichetta del, colore del, cor do, valor padrão,
     valore predefinito, tekst van, standaardwaarde, kleur van, foutmelding, messaggio di errore,
     mensagem de erro, сообщение об ошибке, エラーメッセージ, 文言, 修正, 削除, 更新, 修复, 删除, 变更,
     変更`,
  ],
];
