/**
 * The words that put a task into a class, in families, each with its reason. The first family of a class
 * is the one it was designed with. The others were added where texts of the tuning half were missed
 * (test/fixtures/complexity), as families rather than single words; the last ones say words of the others
 * in further languages. On texts that nobody tuned for, about half are classed as a person would.
 *
 * Left out on purpose, because they mean too many things: page, form, graph (a structure, GraphQL),
 * calendar (a format), interface (of code), table (of a database), card (that pays), button, delete, sync,
 * migration.
 */

const SIMPLE = [
  ['fix', 'update', 'refactor', 'add'],
  // One word or sentence that people read is changed.
  ['typo', 'spelling', 'misspelled', 'wording', 'label', 'caption', 'error message', 'README', 'docs'],
  ['changelog', 'broken link', 'dead link', 'docstring'],
  // One thing is called otherwise, or goes.
  ['rename', 'remove', 'drop', 'unused', 'dead code', 'extract', 'inline', 'cleanup', 'clean up', 'tidy'],
  ['favicon', 'copyright', 'footer', 'comma', 'help text', 'greeting', 'greeted', 'mention', 'mentions'],
  // One value is another.
  ['bump', 'constant', 'default', 'log level', 'feature flag', 'version number', 'upload limit', 'rounding'],
  ['rounded', 'chore', 'revert', 'lint', 'whitespace', 'off by one', 'null check', 'healthcheck'],
  ['health check', 'optional', 'undefined', 'milliseconds', 'instead of', 'wrong', 'missing', 'adjust'],
  ['color', 'colour', 'sort', 'sorted', 'character', 'exit code', 'deprecated', 'longer', 'shorter'],
  ['beheben', 'korrigieren', 'aktualisieren', 'hinzufügen', 'Tippfehler', 'umbenennen', 'entfernen'],
  [
    'Fehlermeldung',
    'corriger',
    'ajouter',
    'renommer',
    'libellé',
    'corregir',
    'actualizar',
    'añadir',
    'retirer',
    'rinominare',
  ],
  ['agregar', 'renombrar', '誤字'],
];

const MEDIUM = [['test', 'mock', 'fixture'], ['prueba']];

const COMPLEX = [
  ['CLI', 'command', 'parser'],
  // Languages: their rules meet in every combination.
  ['grammar', 'lexer', 'tokenizer', 'compiler', 'interpreter', 'DSL', 'query language', 'subcommand'],
  // What happens at the same time, which no single run shows.
  ['concurrency', 'concurrent', 'parallel', 'deadlock', 'race', 'lock', 'mutex', 'thread'],
  // Several machines, or one that is not always there.
  [
    'distributed',
    'replication',
    'replica',
    'consensus',
    'leader election',
    'cluster',
    'sharding',
    'failover',
  ],
  ['offline', 'protocol', 'handshake', 'OAuth', 'SAML', 'SSO'],
  // What the rest stands on.
  ['engine', 'scheduler', 'algorithm', 'file format', 'without downtime', 'zero downtime', 'memory leak'],
  ['undo', 'redo', 'ranking', 'ranked', 'recommendation', 'fuzzy search', 'typo tolerance', 'optimizer'],
  ['optimiser', 'plugin', 'monolith', 'microservice', 'rule engine'],
  ['encryption', 'full text', 'codec', 'decoder', 'compaction', 'scheduling'],
  // What must hold when something breaks, or while several write.
  ['starvation', 'crash recovery', 'data loss', 'data lost', 'memory grows', 'out of memory', 'replay'],
  ['rollback', 'point in time', 'segfault', 'intermittent'],
  ['collaboration', 'real time', 'synchronize', 'synchronization', 'two-way sync', 'conflict resolution'],
  ['Kommandozeile', 'Kommandozeilenwerkzeug', 'Befehlszeile', 'ligne de commande', 'línea de comandos'],
  ['Abgleich', 'abgleichen', 'Nebenläufigkeit', 'moteur', 'motor', 'разборщик', 'парсер'],
];

const UI_HEAVY = [
  ['UI', 'View', 'Chart', 'Dashboard', 'SwiftUI'],
  // What a screen is made of.
  ['screen', 'layout', 'widget', 'modal', 'dialog', 'popup', 'sidebar', 'toolbar', 'navbar', 'navigation'],
  [
    'menu',
    'drawer',
    'wizard',
    'carousel',
    'panel',
    'tile',
    'swimlane',
    'picker',
    'icon',
    'grid',
    'dropdown',
    'tab',
  ],
  ['gallery', 'canvas', 'drawing', 'progress bar', 'minimap', 'formatting bar', 'on a map'],
  ['landing page', 'login page', 'settings page', 'profile page', 'home page', 'homepage', 'start page'],
  ['signup form', 'sign-up form', 'login form', 'contact form', 'order form', 'search form'],
  // What hands do on it.
  ['drag', 'dragging', 'hover', 'hovering', 'swipe', 'scroll', 'scrolling', 'zoom', 'pinch', 'gesture'],
  ['mouse', 'finger', 'lasso', 'rearrange', 'rearranged', 'crop', 'cropper', 'tablet'],
  // How it looks.
  ['CSS', 'stylesheet', 'theme', 'dark mode', 'redesign', 'responsive', 'animation', 'style guide'],
  ['design system', 'mockup', 'wireframe'],
  // Pictures of data.
  ['heat map', 'heatmap', 'diagram', 'gantt', 'timeline', 'histogram', 'sparkline', 'waveform', 'kanban'],
  ['Oberfläche', 'Benutzeroberfläche', 'Ansicht', 'Diagramm', 'Bildschirm', 'vue', 'graphique', 'écran'],
  ['tableau de bord', "page d'accueil", 'interfaz', 'vista', 'gráfico', 'tablero', 'pantalla', '画面'],
  ['Formular', 'Startseite', 'interfaccia'],
];

/** Keywords by class, the first family of each first. */
export const DEFAULT_WORDS = {
  simple: SIMPLE.flat(),
  medium: MEDIUM.flat(),
  complex: COMPLEX.flat(),
  ui_heavy: UI_HEAVY.flat(),
};
