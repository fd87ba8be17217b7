/**
 * The words by which a report says that a file was written, that it was not, or that it will be; in the
 * languages agents report in. Only finished deeds count, so a verb stands here in the forms of the past;
 * its other forms are listed to take up a "not" or a "will" that stands before them.
 */

/**
 * `wrote`, `gone`, `moved`: a finished deed. `base`: a deed that is not finished. `other`: something was
 * done that writes nothing. `not`, `plan`: undo the next deed. `undo`: the file before it is as it was.
 * `aside`, `apart`: the files after it are only mentioned, the second until the next deed. `into`: ends an
 * aside. `but`: a new clause. `glue`: may stand between a file and its deed. `new`: an adjective. `of`,
 * `purpose`: the files after it belong to something else, or are what the deed is for. `part`: the file before it
 * only gives its name to something.
 */
export type WordKind =
  | 'wrote'
  | 'gone'
  | 'moved'
  | 'base'
  | 'other'
  | 'not'
  | 'plan'
  | 'undo'
  | 'aside'
  | 'apart'
  | 'into'
  | 'but'
  | 'glue'
  | 'new'
  | 'of'
  | 'purpose'
  | 'part';

export interface WordSense {
  kind: WordKind;
  /** In its language the deed may stand at the end, far behind the file. */
  late: boolean;
}

const WORDS: Record<WordKind, string> = {
  wrote: `created added wrote written modified updated changed edited implemented refactored fixed extended
    rewrote rewritten introduced generated replaced patched adjusted touched improved restructured built
    documented corrected extracted completed
    creé creado creada creados creadas añadí añadido añadida añadidos agregué agregado agregada escrito escrita
    escribí modifiqué modificado modificada modificados modificadas actualicé actualizado actualizada actualizados
    cambié cambiado cambiada editado editada implementé implementado implementada corregí corregido corregida
    créé créée créés créées ajouté ajoutée ajoutés ajoutées écrit écrite écrits modifié modifiée modifiés modifiées
    changé changée édité éditée implémenté implémentée corrigé corrigée réécrit jour
    criei criado criada criados criadas adicionei adicionado adicionada adicionados modifiquei atualizei atualizado
    atualizada atualizados alterei alterado alterada alterados implementei corrigi corrigido corrigida
    creato creata creati aggiunto aggiunta aggiunti scritto scritta modificato modificata modificati
    modificate aggiornato aggiornata aggiornati cambiato cambiata implementato implementata corretto corretta
    utworzono utworzyłem utworzyłam dodano dodałem dodałam zmieniono zmieniłem zmodyfikowano zaktualizowano
    zaktualizowałem napisano poprawiono zmienione utworzone zaktualizowane
    создан создана создано созданы создал создала добавлен добавлена добавлено добавлены добавил добавила изменен
    изменён изменена изменено изменены изменил изменила обновлен обновлён обновлена обновлены обновил обновила
    написал написала написан исправлен исправлены исправил исправила измененные изменённые созданные обновленные`,
  gone: `removed deleted eliminado eliminada eliminados eliminé borrado borrada borré supprimé supprimée supprimés
    removido removida removidos removi excluído excluída excluí rimosso rimossa rimossi eliminato eliminata
    usunięto usunąłem usunęłam usunięte удален удалён удалена удалены удалил удалила`,
  moved: `renamed moved renombrado renombrada renombré movido movida moví renommé renommée déplacé déplacée
    renomeado renomeada renomeei rinominato rinominata spostato spostata przeniesiono przemianowano
    переименован переименована переименовал переименовала перемещен перемещён`,
  base: `create creates creating add adds adding write writes writing modify modifies modifying update updates
    updating change changes changing edit edits editing edits implement implements implementing refactor refactors
    refactoring fix fixes fixing extend extending rewrite introduce generate generates replace replaces replacing
    patch adjust touch touching touches improve build remove removes removing delete deletes deleting rename
    renaming move moving modification modifications addition deletion creation erstellen anlegen hinzufügen
    schreiben ändern aktualisieren anpassen bearbeiten löschen entfernen umbenennen änderungen änderung crear añadir
    agregar escribir modificar actualizar cambiar editar implementar eliminar borrar cambios cambio créer ajouter
    écrire modifier changer mettre implémenter supprimer changement changements criar adicionar escrever atualizar
    alterar remover excluir alteração alterações mudanças creare aggiungere scrivere modificare aggiornare cambiare
    rimuovere modifiche maken aanmaken toevoegen schrijven wijzigen bijwerken aanpassen verwijderen wijzigingen
    utworzyć dodać zmienić zaktualizować usunąć создать добавить изменить обновить удалить`,
  other: `read reads reading checked check checks checking reviewed inspected looked ran run runs running tested
    verified used uses using imports importing imported calls calling called found saw noticed kept left leaves
    depends opened examined analyzed analysed considered mentioned references references exports contains matches
    mirrors follows existed exists exist gelesen geprüft verwendet gesehen angesehen ausgeführt liest nutzt leído
    leí revisado usado usa lu lus vérifié utilisé utilise lido li verificado usei letto verificato usato gelezen
    bekeken gebruikt przeczytano sprawdzono прочитал прочитан проверил использует`,
  not: `not never no nothing neither nor without didn't haven't hasn't wasn't weren't isn't aren't don't doesn't
    cannot can't couldn't won't failed unable tried attempted avoided nicht kein keine keinen keiner nie nichts ohne ne n pas
    jamais sans aucun aucune rien sin nunca ningún ninguna ninguno não sem nenhum nenhuma non senza mai nessun
    nessuna niet geen zonder nooit nie bez żaden не без нет ни değil`,
  plan: `will would shall should must may might can could need needs needed be going plan plans planned planning
    want wants propose proposed propose suggest suggested recommend recommended todo next later remaining pending
    future if once unless let please expected supposed intend intends i'll we'll would i'd ready wird werden soll
    sollen sollte sollten muss müssen müsste kann könnte würde wenn falls geplant sera seront être devrait doit
    doivent faut vais va si será serán debe deben debería hay voy cuando deve devem deveria vou vai sarà saranno
    dovrebbe devo zal zullen zou moet moeten kan worden als będzie będą należy trzeba powinien będę будет будут нужно надо
    следует должен должна если планирую`,
  undo: `unchanged untouched unmodified unaffected intact unverändert unangetastet unberührt inchangé inchangée intacto
    intacta inalterado inalterada invariato invariata ongewijzigd niezmieniony niezmieniony неизменен неизменным`,
  aside: `for from with using via by like against about per versus vs instead rather than based derived modelled modeled similar according für aus mit von wie para
    desde con como pour depuis avec comme per da con voor van met dla z для из с`,
  apart: `previously previous earlier already formerly bereits schon früher déjà ya anteriormente già já уже al reeds
    where which whose that when how why whether what because since as so see except while although though whereas before after until welche
    weil außer siehe während bevor nachdem donde porque excepto mientras où parce sauf pendant onde exceto
    dove perché tranne waar omdat behalve gdzie oprócz где который которая которое которые которую кроме
    qui que che który która które`,
  into: `in into to at under inside within im zu nach unter dans à sous en bajo em sob nel nella sotto naar onder w
    в на`,
  but: 'but however yet aber jedoch sondern pero sino mais cependant mas porém ma però maar ale но а',
  glue: `was were is are has have had been being now also just newly successfully both all file files the i we
    a an and it's they each i've we've wurde wurden ist sind worden habe haben hat neu datei dateien die der das den
    und ich auch fichier fichiers le la les et ai a ont est sont été j'ai nous avons fue fueron ha han sido he hemos se archivo
    archivos el los las y foi foram arquivo arquivos o os as e è stato stata stati state ho abbiamo il lo i gli
    werd is zijn heb bestand bestanden het en został została zostało zostały plik pliki i był была было были файл
    файлы и я мы`,
  of: `of on upon onto over through throughout across around between among beside besides near alongside toward towards
    atop auf über an bei durch gegen de du des d' sur sobre di del dello della dell' dei degli delle su sul do dos op od
    о об про от`,
  purpose: `damit sodass afin чтобы чтоб aby żeby om zodat affinché için`,
  part: '',
  new: 'new neu neue neuer nouveau nouvelle nuevo nueva novo nova nuovo nuova nieuw nowy nowa новый новая',
};

const LATE: Partial<Record<WordKind, string>> = {
  wrote: `erstellt angelegt hinzugefügt geschrieben geändert aktualisiert angepasst bearbeitet überarbeitet ergänzt
    erweitert implementiert behoben korrigiert umgesetzt umgeschrieben eingefügt
    geänderte geänderten erstellte erstellten angelegte angelegten hinzugefügte hinzugefügten angepasste angepassten
    bearbeitete bearbeiteten aktualisierte aktualisierten gewijzigde toegevoegde aangemaakte aangepaste
    aangemaakt toegevoegd geschreven gewijzigd bijgewerkt aangepast geïmplementeerd
    oluşturuldu oluşturdum eklendi ekledim güncellendi güncelledim değiştirildi değiştirdim yazdım yazıldı`,
  gone: 'gelöscht gelöschte entfernt entfernte verwijderd verwijderde silindi sildim kaldırıldı',
  moved: 'umbenannt verschoben hernoemd verplaatst',
};

let senses: ReadonlyMap<string, WordSense> | undefined;

/** Every word by itself. Read when a report is: a start has none, and would wait for it. */
function sensesByWord(): ReadonlyMap<string, WordSense> {
  senses ??= readSenses();
  return senses;
}

function readSenses(): Map<string, WordSense> {
  const found = new Map<string, WordSense>();
  for (const [table, late] of [
    [WORDS, false],
    [LATE, true],
  ] as const) {
    for (const [kind, words] of Object.entries(table) as [WordKind, string][]) {
      for (const word of words.split(/\s+/))
        if (word !== '' && !found.has(word)) found.set(word, { kind, late });
    }
  }
  return found;
}

/** What a word means; null for one of no weight. Any case; typographic apostrophes count as plain ones. */
export function senseOf(word: string): WordSense | null {
  const known = sensesByWord();
  const plain = known.get(word);
  if (plain !== undefined) return plain;
  if (/^[a-z]+$/.test(word)) return null;
  return known.get(word.toLowerCase().normalize('NFC').replace(/[‘’]/g, "'")) ?? null;
}

const DEEDS: ReadonlySet<WordKind> = new Set(['wrote', 'gone', 'moved', 'new']);

let beginnings: RegExp | undefined;

/** Begins like a deed, in any language: lines without one are not looked at any closer. */
function beginningsOfDeeds(): RegExp {
  if (beginnings === undefined) {
    const deeds = [...sensesByWord()].filter(([, { kind }]) => DEEDS.has(kind));
    const begun = new Set(deeds.map(([word]) => word.slice(0, 5)));
    beginnings = new RegExp(`(?<![A-Za-z])(?:${[...begun].join('|')})|[\u3040-\u9fff\uac00-\ud7af]`, 'i');
  }
  return beginnings;
}

/** Whether a line can say at all that something was written. May be wrong in saying yes, never in saying no. */
export function mayTell(line: string): boolean {
  const deed = beginningsOfDeeds();
  return deed.test(line) || (/[^\u0000-\u036f]/.test(line) && deed.test(line.normalize('NFC')));
}

const ZH_DEED = '创建|新建|新增|添加|增加|修改|更新|编写|重构|实现|修复|調整|调整|新增|建立|撰写';
const JA_DEED = '作成|追加|更新|変更|修正|実装|編集|生成';
const KO_DEED = '생성|추가|수정|변경|업데이트|작성|구현';
const DONE_JA = '(?:しました|した|済み|されました|された)';
const DONE_KO = '(?:했|하였|되었|됐)';

/** Chinese, Japanese and Korean set no blanks that would make words of a deed: these are looked for. */
const PHRASES = new RegExp(
  [
    '(?<undo>[をに](?:参考|参照|基づ|もと|元|沿っ|従っ|読ん|見て|確認|テスト|実行)|と同様|(?:참고|참조)[하해]|따라)',
    '(?<purpose>以便|以(?:覆盖|测试|验证|支持|确保)|用于|用来|来(?:覆盖|测试|验证)|为了)',
    '(?<part>的(?:单元)?(?:测试|导入|引用|用例|文档|类型|调用)|테스트[를을])',
    '(?<undo3>の(?:テスト|インポート|参照|型|ドキュメント|呼び出し|ため)|用の|に(?:対する|関する)|を(?:カバー|検証|インポート)|(?:테스트|검증|커버)하|위[한해]|대한)',
    '(?<aside>(?<![名改称成作因变设视认])为|参考|参照|根据|根據|基于|基於|按照|依照|仿照)',
    `(?<undo2>(?:${JA_DEED}|削除)(?:していません|しませんでした|していない|しない|されていません)|保持不变|没有变化|未变)`,
    `(?<gone>(?:已经?)?(?:删除|移除)了|已经?(?:删除|移除)|削除${DONE_JA}|삭제${DONE_KO})`,
    `(?<moved>(?:重命名|移动)了|已经?(?:重命名|移动)|(?:移動|名前を変更)${DONE_JA}|이동${DONE_KO})`,
    `(?<wrote>(?:${ZH_DEED})了|已经?(?:${ZH_DEED})|(?:${JA_DEED})${DONE_JA}|(?:${KO_DEED})${DONE_KO})`,
    '(?<not>没有|并未|尚未|未|没|不|无需)',
    '(?<plan>将|会|需要|计划|打算|应该|准备|如果)',
    `(?<base>${ZH_DEED}|删除|移除|重命名|${JA_DEED}|削除|${KO_DEED}|삭제)`,
    '(?<other>读取|查看|检查|运行|確認|読み|확인)',
    '(?<but>但是?|而|しかし|ただし)',
  ].join('|'),
  'g',
);

const UNSPACED = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

/** The senses within a run of text that sets no blanks between words; empty where there are none. */
export function sensesWithin(run: string): WordSense[] {
  if (!UNSPACED.test(run)) return [];
  // Where the verb ends the sentence, what follows it is not its object.
  const late = /[\u3040-\u30ff\uac00-\ud7af]/.test(run);
  const found: WordSense[] = [];
  for (const { groups } of run.matchAll(PHRASES)) {
    for (const [kind, text] of Object.entries(groups ?? {})) {
      if (text !== undefined) found.push({ kind: kind.replace(/\d$/, '') as WordKind, late });
    }
  }
  return found;
}

const LEAD_FILES =
  /\b(?:files?|changes?|dateien?|änderungen|fichiers?|archivos?|cambios|arquivos?|alterações|modifiche|bestanden|wijzigingen|pliki|summary|done)\b|файл|изменени|文件|ファイル|変更|更改|修改|파일|변경/iu;
const LEAD_NOUNS =
  /^(?:summary of )?(?:the )?(?:file )?(?:changes|änderungen|changements|cambios|alterações|modifiche|wijzigingen|изменения|变更|更改|修改|変更点|変更|변경 사항|changelog)(?: (?:made|summary))?$/iu;
const PLANNED =
  /\b(?:plan|plans|next steps?|to ?do|remaining|proposed?|proposal|future|follow[- ]?ups?|not (?:changed|modified|touched|done)|unchanged|untouched|nächste schritte|geplant|à faire|prochaines étapes|próximos pasos|próximos passos|prossimi passi)\b|下一步|计划|未修改|予定/iu;

/** What the line above a list or a table says of what stands in it. */
export type Lead = 'claims' | 'plans' | null;

/** Reads a heading or a line that ends in a colon. */
export function leadOf(line: string): Lead {
  const text = line
    .replace(/^[\s#>*_]+|[\s:：*_#]+$/g, '')
    .replace(/[*_`]/g, '')
    .slice(0, 160);
  if (text === '') return null;
  if (PLANNED.test(text)) return 'plans';
  if (LEAD_NOUNS.test(text)) return 'claims';
  let lead: Lead = null;
  for (const word of text.split(/[\s/,&]+/)) {
    const senses = [senseOf(word) ?? [], ...sensesWithin(word)].flat();
    for (const { kind } of senses) {
      if (kind === 'not' || kind === 'plan' || kind === 'undo') return 'plans';
      if (kind === 'wrote' || kind === 'gone' || kind === 'moved') lead = 'claims';
      // 修改的文件: in Chinese the plain verb makes the heading.
      if (kind === 'base' && UNSPACED.test(word)) lead = 'claims';
      if (kind === 'base' && /^to$/i.test(text.split(/\s+/)[1] ?? '')) return 'plans';
    }
  }
  return lead === 'claims' && (LEAD_FILES.test(text) || text.split(/\s+/).length <= 3) ? 'claims' : null;
}
