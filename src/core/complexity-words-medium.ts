/**
 * The words of ordinary work on a few files: an endpoint, a rule, a job, a set of tests, a connection to
 * another service. Weights as in `complexity-words-ui.ts`; they are low, because medium is also what a task
 * without any telling word is.
 */
import type { Family } from './complexity-index.ts';

export const MEDIUM_WORDS: Family[] = [
  // The law's own, and what else tests a program.
  [
    2,
    `test, mock, fixture, unit test, integration test, regression test, test coverage, coverage,
     snapshot test, contract test, end to end test, property test, load test, smoke test, stub, test data,
     seed data, testcontainers, spec, specs, benchmark`,
  ],
  // What a program offers another one.
  [
    2,
    `endpoint, webhook, callback, rest, rest api, graphql, resolver, middleware, interceptor, controller,
     handler, openapi, swagger, pagination, paginate, cursor based, rate limit, rate limiter,
     rate limiting, throttle, throttling, quota, idempotency, idempotency key, idempotent, etag, cors,
     bulk, bulk update, batch, query parameter, soap, xml`,
  ],
  [
    1,
    `api, route, request, response, payload, post, patch, 404, 409, 429, 500, http, json, header,
     status code`,
  ],
  // What waits, runs later, or again.
  [
    2,
    `job, cron, nightly, every night, every monday, weekly, daily, monthly, hourly, background job,
     background worker, retry, retries, retried, backoff, back off, dead letter, timeout, circuit breaker,
     polling, poll, reminder, remind, expire, expires, expired, expiry, purge, archive, archived,
     retention, clean up job, automatically, scheduled`,
  ],
  // What comes in and goes out.
  [
    2,
    `import, importer, export, exporter, csv, excel, xlsx, pdf, vcard, ical, ics, parquet, upload,
     download, attachment, mail, email, e mail, sms, text message, push notification, notification,
     notify, newsletter, digest, slack, sentry, s3, ftp, sftp, rss, feed, sitemap, print a label, barcode,
     qr code, crash report, crash reports, connector, adapter, integration, integrate, third party,
     client for, stripe, paypal, twilio, salesforce, hubspot`,
  ],
  // What is right and what is not.
  [
    2,
    `validate, validation, validator, rule, plausibility, unique, uniqueness, duplicate, duplicates,
     dedupe, deduplicate, sanitize, sanitise, normalize, normalise, checksum, threshold, flagged,
     eligibility, limit per, at most once, iban, calculate, calculation, compute, aggregate, statistics,
     report, average, conversion, convert, exchange rate`,
  ],
  // Who may do what.
  [
    2,
    `login, log in, logout, sign in, password reset, reset password, reset link, two factor, 2fa, totp,
     captcha, token, jwt, refresh token, api key, signed url, verify signature, leaked password, synonym,
     permission, admin can, invite, invitation, deactivate, deactivated, reactivate, block user, ban,
     consent, gdpr, anonymize, anonymise, audit log, audit trail, unsubscribe, opt out, opt in, lock out,
     failed logins, approval, approve, moderation, verification`,
  ],
  // What is kept.
  [
    2,
    `cache, caching, cached, ttl, lru, memoize, persist, persisted, repository, query, n 1, lookups,
     soft delete, restore, backup, redis, postgres, mongodb, elasticsearch, foreign key, transaction,
     history, versioning, tagging, full name search, search by, filter by, sort by relevance, find again,
     listed, list all, list of`,
  ],
  // What a shop, an office or a club does.
  [
    2,
    `refund, payout, waiting list, loyalty points, overdue, dunning, credit note, cancel, cancellation,
     shift swap`,
  ],
  [
    1,
    `invoice, payment, subscription, coupon, voucher, discount, vat, tax, shipping, delivery, order, cart,
     stock, supplier, booking, reservation, quote, customer, member, membership, appointment, holiday,
     weekend, loyalty, account, accounts, user, users, ticket, tickets, comment, comments, tag, tags,
     contact, contacts, price, prices, address`,
  ],
  // Orders of ordinary size.
  [
    1,
    `^send, ^notify, ^store, ^save, ^block, ^restrict, ^limit, ^generate, ^track, ^skip, ^prevent, ^group,
     ^convert, ^search, ^schedule, ^attach, ^remind, ^forward, ^collect, ^check, ^verify, ^offer,
     ^escalate, ^renew, ^copy, ^cover, ^count, ^ship`,
  ],
  [
    2,
    `resize uploaded, thumbnails of, second person, four eyes, unpaid, cold storage, ftp server,
     address form, warning mail, paging, löschen von, automatisches löschen, erneut, lastschrift,
     lastschriften, adresse électronique, après confirmation, registrar, crud, resource for, group by,
     grouped by, several addresses, property tests, password strength, magic link, door code,
     stale issues, accounting system, ship logs, server side, public holidays, due date, due dates,
     per key, per company, loki, datadog, mailchimp, zapier, google calendar, outlook, ldap,
     active directory, recaptcha, hashing passwords, scheduled task, batch job, data export,
     mail template, email template, merge contacts, merge duplicates, bounce, bounced,
     full text search of, fuzzy match, business rule, business day, working days, opening times,
     grace period, credit limit, accents, soft deleted, trash, recycle bin, waitlist, wait list,
     time tracking, overtime, breaks, price file, product feed, kundennummer, kundennummern, doppelt,
     vergeben, verhindern, erinnern, mahnwesen, -stufen, stornieren, storno, ablehnen,
     relance automatique, impayées, impayés, automatique, automatiquement, doublon, archiver, annuler,
     remboursements, automáticamente, automático, archivar, cancelar, impagadas, impagados, limitar,
     intentos, copia de cada, vencidas`,
  ],
  // How it is built and watched.
  [
    1,
    `role, access, signature, ci, total, totals, list, store, session, queue, worker, receipt, template,
     storage, database, refactor, separate, extract service, interface, service, class, consolidate,
     one place, abstraction, reuse, support, crawler, memory, slow, fails, fail, twice, late, disappear,
     wrongly, garbled, cannot, ignores, chokes, merge, record, recorded, assign, follow, unfollow,
     subscribe, watch, mark as, suggest, split, count, counter, leaderboard, rating, detect, detection,
     translate, translated, locale, timezone, time zone, geocode, distance, aloud, directions`,
  ],
  [
    2,
    `github actions, pipeline step, docker, docker image, dockerfile, compose file, helm, terraform,
     ansible, deploy, metrics, prometheus, alert, alerts, alerting, structured logging, structured log,
     tracing, health endpoint, grafana, script, one script, arm image, release notes, sbom, cross compile,
     feature toggle service, nightly build`,
  ],
  // What a backlog of a shop, a club or an office is full of.
  [
    2,
    `email verification, account deletion, data deletion, password policy, password expiry, allowlist,
     allow list, blocklist, block list, blacklist, whitelist, geo blocking, login history, change email,
     change password, remember me, health probe, readiness probe, graceful shutdown, correlation id,
     log rotation, usage limit, plan limit, trial period, proration, payment method, card expiry,
     bank transfer, direct debit, gift card, wishlist, wish list, favourites, favorites, bookmark,
     saved search, spam filter, profanity filter, survey, rsvp, check in, attendance, referral, affiliate,
     utm, analytics event, short link, print queue, low stock, reorder level, purchase order,
     goods receipt, shipping label, tracking number, carrier, pickup, delivery slot, holiday calendar,
     timesheet, expense, mileage, per diem, out of office, auto reply, mail merge, mailing list,
     double opt in, otp, sms code, virus scan, read receipt, multi currency, several currencies,
     bulk edit, bulk delete, bulk import, api client, api version, request id, error tracking,
     feature usage, rate card, credit card, loyalty card, id check, age check, age verification,
     address check, opening hours api, exchange rates, tax report, yearly report, annual statement,
     statement, summary mail, welcome mail, confirmation mail, thank you mail`,
  ],
  // German.
  [
    2,
    `prüfen, prüfung, -prüfung, validierung, endpunkt, schnittstelle, rechnung, rechnungen, bestellung,
     bestellungen, exportieren, importieren, -export, -import, hochladen, herunterladen, versenden,
     verschicken, benachrichtigung, benachrichtigen, erinnerung, -erinnerung, gutschein, gutscheine,
     rabatt, mahnung, zahlung, erstattung, anhang, nächtlich, nächtlicher, täglich, wöchentlich,
     monatlich, automatisch, zwischenspeichern, zwischenspeicher, wiederholen, berechnung, -berechnung,
     tests, anmeldung, abmeldung, einladung, protokollieren, sicherung, löschfrist`,
  ],
  [
    1,
    `kunde, kunden, nutzer, benutzer, liste, bericht, -bericht, konto, passwort, per mail, schicken,
     anlegen`,
  ],
  // French.
  [
    2,
    `point d accès, valider, envoyer, courriel, facture, factures, commande, commandes, remise, paiement,
     remboursement, relance, rappel, notifier, mot de passe oublié, chaque nuit, chaque semaine,
     quotidien, hebdomadaire, mensuel, mise en cache, pièce jointe, télécharger, doublons, essais,
     inscription, connexion, limiter, limite de débit, journaliser, abonnement, rapport`,
  ],
  // Spanish.
  [
    2,
    `prueba, pruebas, punto de acceso, validar, validación, exportar, importar, enviar, correo, factura,
     facturas, pedido, pedidos, descuento, pago, reembolso, recordatorio, aviso, notificación, notificar,
     cada noche, diario, semanal, mensual, caché, adjunto, descargar, subir, duplicados, suscripción,
     invitación, informe, cupón, cupones`,
  ],
  // Italian, Portuguese, Dutch, Russian, Japanese, Chinese.
  [
    2,
    `fattura, invio, esportare, inviare, fatura, factuur, versturen, тест, тесты, отчёт, экспорт,
     ricevuta, pagamento, promemoria, rimborso, herinnering, betaling, уведомление, письмо, оплата,
     メール, 送信, テスト, 通知, 請求書, 検証, 測試, 测试, 导出, 接口`,
  ],
  // A hint.
  [1, 'mapping, mapped'],
];
