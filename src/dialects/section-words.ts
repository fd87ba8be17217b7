/**
 * Titles of sections and labels that hold no tasks, by a closed list of words per language: criteria,
 * notes, legends. A title that is in none of them means nothing.
 */
import { anyOf, fold } from './word-fold.ts';

const ACCEPTANCE = anyOf(
  '(?:final |user )?acceptance(?: (?:criteria|criterion|tests?|testing|checklist|checks?|conditions?))?',
  '(?:success|exit|completion|done|validation|verification|quality|release|review|testable) (?:criteria|criterion)',
  '(?:success|quality|verification|validation) (?:conditions?|gates?|checklist|checks?)|release gates?|verification(?: steps)?',
  '(?:pre-?merge|merge|pre-?release|pre-?submit|review|qa|quality|sign-?off|final|dod|done|completion|definition of done) (?:checklist|checks|gates?)',
  '(?:checklist|checks)(?: before| for| prior to)(?: the)? (?:merge|merging|release|releasing|review|submitting|pr|commit|committing).*',
  'before (?:merging|merge|release|releasing|submitting|commit|committing|you (?:merge|commit|submit)).*|gates?',
  'definitions? of done',
  '(?:we are |it is )?(?:done|finished|complete) when.*',
  '(?:erledigt|fertig|abgeschlossen),? wenn.*',
  '(?:terminé|fini) (?:quand|lorsque).*|(?:hecho|terminado|listo) cuando.*|(?:pronto|concluído) quando.*',
  '(?:akzeptanz|abnahme|fertig|erfolgs|qualitäts)-?kriterien|abnahme(?:test|tests|prüfung|checkliste)?|qualitäts(?:tore|gates|sicherung)',
  '(?:verifikation|verifizierung|überprüfung)|(?:checkliste|prüfliste) vor (?:dem |der )?(?:merge|zusammenführen|freigabe|release).*|vor dem merge',
  "(?:critères|conditions) (?:d'acceptation|de réussite|de succès|de validation|de fin|de qualité)|vérifications?|recette",
  '(?:liste de contrôle|checklist|vérifications) avant (?:la )?(?:fusion|livraison|merge).*|portes de qualité',
  'criterios? de (?:aceptación|éxito|finalización|calidad|verificación)|verificación|puertas de calidad',
  '(?:lista de (?:verificación|comprobación)|checklist)(?: antes de.*| previa.*)?',
  'critérios? de (?:aceitação|aceite|sucesso|conclusão|qualidade)|verificação|lista de verificação.*',
  'criteri(?:o)? di (?:accettazione|successo|completamento|qualità)|verifica|verifiche|lista di controllo.*',
  'критери[ий] (?:приемки|успеха|готовности|качества)|приемка|проверка|контрольный список.*',
  '受け?入れ?(?:基準|条件|テスト|確認)|検収(?:条件)?|検証|品質(?:ゲート|基準)|マージ前.*|(?:リリース|レビュー)前(?:の)?(?:確認|チェック).*',
  '完了(?:条件|基準)|成功条件',
  '验收(?:标准|条件|准则|测试|清单|检查)?|完成(?:标准|条件)|驗收(?:標準|條件|測試)?|验证|驗證|质量(?:门禁|关卡|门|标准)|合并前.*|检查清单',
  '(?:인수|완료|합격|성공|품질) (?:기준|조건|게이트)|검증|인수 테스트|병합 전.*',
  'معايير (?:القبول|النجاح|الجودة|الإنجاز)|التحقق|بوابات الجودة|قائمة (?:التحقق|المراجعة).*',
);

/** Titles of criteria below a task; elsewhere they may as well be work. */
const LOOSE_ACCEPTANCE = anyOf(
  'acs?|criteria|verification|validation|requirements',
  'kriterien|critères|criterios|critérios',
);

const NO_TASKS = anyOf(
  '(?:project |overall |high[- ]level |key |main |primary |secondary )?(?:goals?|objectives?)|goals and .*|(?:technical |design |project )?constraints|prerequisites?|pre-?conditions?|guiding principles|principles|(?:ground )?rules|guardrails',
  'validation(?: (?:steps|checklist|plan))?|preflight(?: checks?)?|pre-?flight(?: checks?)?',
  '(?:projekt)?ziele?|voraussetzungen?|vorbedingungen?|randbedingungen|rahmenbedingungen|einschränkungen|regeln|prinzipien|grundsätze',
  'objectifs?(?: du projet)?|buts?|prérequis|pré-requis|conditions préalables|contraintes?|principes',
  'objetivos?(?: del proyecto)?|metas?|requisitos previos|prerrequisitos|restricciones|limitaciones|principios|reglas',
  'objetivos? do projeto|pré-requisitos|prerequisitos|restrições|limitações|princípios|regras',
  'obiettivi?(?: del progetto)?|prerequisiti|requisiti preliminari|vincoli|principi|regole',
  'цел[иь](?: проекта)?|предварительные (?:условия|требования)|ограничения|принципы|правила',
  '目標|目的|ゴール|前提条件|制約(?:条件|事項)?|原則|ルール',
  '(?:项目)?目标|目標|前提(?:条件)?|先决条件|前置条件|约束(?:条件)?|約束|限制(?:条件)?|原则|规则',
  '목표|전제 ?조건|사전 (?:조건|요구 ?사항)|제약(?: 조건| 사항)?|원칙',
  '(?:ال)?أهداف(?: المشروع)?|(?:ال)?هدف|(?:ال)?متطلبات (?:ال)?(?:مسبقة|سابقة)|المتطلبات المسبقة|(?:ال)?قيود|(?:ال)?شروط المسبقة|المبادئ',
  'success (?:metrics?|indicators?)|(?:overall |key |target )?metrics|kpis?',
  'definitions? of ready',
  '(?:quality|overall|final|project|global) (?:acceptance|success) criteria',
  'notes?(?: (?:for|on|to|about|and) .*)?',
  '.{0,40} notes',
  '(?:status |marker |checkbox |symbol )?legend',
  '(?:status )?(?:key|markers?|symbols?|icons?)',
  'non[- ]goals?|not doing|not in scope|(?:explicitly )?out of scope',
  'open questions?|risks?(?: and .*)?|assumptions?(?: and .*)?',
  'references?|glossary|appendix.*|learnings?|lessons learned|change ?log',
  '(?:an )?examples?(?: (?:format|entry|task|story))?|(?:task|story|entry) (?:format|template)|template',
  'how to .*|instructions(?: for .*)?|conventions',
  'erfolgs(?:metriken|messung)|definition (?:of done|von fertig)|notizen|hinweise|anmerkungen|legende',
  'nicht[- ](?:im umfang|ziele)|(?:außerhalb|ausserhalb) des umfangs|offene fragen|risiken.*|annahmen|glossar|anhang.*',
  'définition (?:de|du) (?:terminé|fini|fait)|(?:indicateurs|métriques|mesures) de (?:succès|réussite)|remarques|légende',
  'hors[- ](?:périmètre|scope|sujet)|questions ouvertes|risques.*|hypothèses|glossaire|annexes?.*',
  'definición de (?:hecho|terminado|listo|completado)|métricas de éxito|notas|leyenda',
  'fuera de(?:l)? alcance|preguntas abiertas|riesgos.*|supuestos|glosario|anexos?.*',
  'definição de (?:pronto|concluído)|métricas de sucesso|legenda|fora d[oe] escopo|perguntas em aberto|riscos.*',
  'definizione di (?:fatto|completato|finito)|note|fuori (?:ambito|portata)|domande aperte|rischi.*',
  'определение готовности|метрики успеха|заметки|примечания|легенда|вне (?:рамок|области).*|открытые вопросы|риски.*',
  '完了の定義|成功(?:指標|基準)|備考|メモ|ノート|注意(?:事項)?|凡例|(?:対象|スコープ|範囲)外|未解決の(?:質問|問題)|リスク.*|前提(?:条件)?|用語集',
  '完成的?(?:定义|定義)|成功(?:指标|标准|指標)|备注|備註|注意事项|笔记|图例|圖例|(?:不在)?范围之?外|超出范围|非目标|(?:开放|待解决的?)问题|风险.*|假设|附录|术语表',
  '완료(?:의)? 정의|성공 지표|메모|참고|범례|범위 (?:외|밖)|위험.*',
  'تعريف (?:الإنجاز|الاكتمال|المنجز|الانتهاء)|(?:مقاييس|مؤشرات) النجاح|ملاحظات|(?:مفتاح الرموز|دليل الرموز)|خارج النطاق|أسئلة مفتوحة|المخاطر|الافتراضات',
);

const LEGEND = anyOf(
  '(?:status |marker |checkbox |symbol )?legend|(?:status )?(?:key|markers?|symbols?|icons?)',
  'legende|leyenda|legenda|легенда|凡例|图例|圖例|범례|مفتاح الرموز|دليل الرموز',
);

/** True for the title of a task's criteria. */
export function isAcceptanceTitle(text: string): boolean {
  const title = fold(text);
  return ACCEPTANCE.test(title) || LOOSE_ACCEPTANCE.test(title);
}

/** True for the title of a section that plainly holds no tasks. */
export function isNoTaskTitle(text: string): boolean {
  const title = fold(text);
  return NO_TASKS.test(title) || ACCEPTANCE.test(title);
}

/** True for the title of a section that explains markers. */
export function isLegendTitle(text: string): boolean {
  return LEGEND.test(fold(text));
}
