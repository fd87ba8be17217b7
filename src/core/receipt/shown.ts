/** When a piece of code in a report is only shown: as it was, as it could be, or how to use the work. */

const SHOWN =
  /\b(?:current|currently|existing|before|original|originally|example|e\.g|would|could|should|will|plan|propose[ds]?|suggest(?:ed|s)?|here is how|looks like|unchanged|not|bisher|aktuell|beispiel|würde|actual|ejemplo|exemple|actuel|например|текущий)\b|当前|现有|例如|将/iu;
const USE =
  /\b(?:usage|how to|using|use (?:it|this|them)|to use|(?:quick|getting) ?-?start(?:ed)?|examples?|samples?|snippets?|demo|tutorial|your (?:own |app|project|code|application|file|component|server|test)|you (?:can|could|may|might|would|need|want|call|import)|(?:call|import|run|try) (?:it|this|them)|like (?:this|so)|for instance|verwendung|benutzung|anwendung|nutzung|beispiele?|utilisation|exemples?|uso|ejemplos?|exemplos?|esempi[o]?|gebruik|voorbeeld|użycie|przykład)\b|использовани|пример|用法|使用|示例|例|使い方|사용|예시|예제/iu;

/** Whether the line above a piece of code says so. */
export function isShown(above: string): boolean {
  return SHOWN.test(above) || USE.test(above);
}

/** Whether a heading begins a part that tells others how to use the work. */
export function isUsage(heading: string): boolean {
  return USE.test(heading);
}
