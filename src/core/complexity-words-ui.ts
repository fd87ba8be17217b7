/**
 * The words of work that is mostly seen and handled on a screen, in families by what they are about and by
 * weight: 3 says it almost alone, 2 mostly, 1 is a hint, 0 takes a phrase out ("phone number" is no phone).
 * Plurals, -ing and -ed are found without entries of their own. "-ansicht" is the last part of a German
 * compound; "^drop" is an order, which counts in full only where a text begins with it.
 */
import type { Family } from './complexity-index.ts';

export const UI_WORDS: Family[] = [
  // The law's own, and what the trade calls the whole.
  [
    3,
    `ui, view, chart, dashboard, swiftui, ux, gui, user interface, front end, frontend, uikit, appkit,
     jetpack compose, react native, tailwind, css, scss, sass, flexbox, css grid, stylesheet, style sheet,
     storybook, figma, wireframe, mockup, mock up, look and feel, design system, design token,
     style guide, component library, visual design, art style`,
  ],
  [
    2,
    `react, vue component, svelte, angular, flutter, xaml, wpf, winforms, qml, gtk, three js, d3, webgl,
     svg, visual, visually, visualise, visualize, visualisation, visualization, graphical, graphically,
     webview, tui, html template, user experience, usability, usable, prototype, restyle, reskin`,
  ],
  // What a screen is made of.
  [
    3,
    `screen, layout, widget, modal, dialog, popup, pop up, popover, sidebar, side bar, toolbar, tool bar,
     navbar, tab bar, bottom sheet, action sheet, detail sheet, side panel, drawer, carousel, accordion,
     wizard, stepper, context menu, hamburger menu, side menu, pause menu, main menu, overflow menu,
     dropdown, drop down, combobox, date picker, time picker, colour picker, color picker, file picker,
     emoji picker, picker, swatch, eyedropper, kanban, swimlane, gallery, lightbox, canvas, whiteboard,
     drawing board, minimap, mini map, hud, data grid, progress bar, progress ring, skeleton screen,
     empty state, loading state, toast, snackbar, command palette, wysiwyg, rich text editor,
     visual editor, image editor, photo editor, map editor, level editor, code editor, inline editing,
     inline edit, edit in place, split view, full screen, fullscreen, master detail, multi select,
     video player, media player, audio player, music player, scrubber, scrubbing, equalizer, equaliser,
     piano roll`,
  ],
  [
    2,
    `menu, panel, pane, tile, grid, slider, toggle switch, toggle, tab, tooltip, overlay, banner, hero,
     spinner, breadcrumb, navigation, nav, icon, avatar, thumbnail, timeline, taskbar, status bar,
     title bar, dock, search bar, search box, search field, filter bar, filter panel, filter chip, chip,
     pill, facet, type ahead, typeahead, autocomplete, auto complete, checkbox, check box, radio button,
     placeholder image, illustration, sprite, tileset, cutscene, inventory screen, character sheet, skin,
     cursor, crosshair, ghost image, drop zone, on a phone, on phones, the look of, modernise, modernize,
     fit on, small display, on mobile, on a tablet, typing indicator`,
  ],
  [
    1,
    `window, button, card, page, form, board, editor, table column, column, input field, text field,
     mobile, phone, browser, safari, tray, sheet, section, badge, image, photo, picture, camera, web app`,
  ],
  [
    0,
    `phone number, in the form, time window, application window, deployment window, maintenance window,
     home address, telephone number, card number, form of, order form number`,
  ],
  // Whole pages.
  [
    3,
    `landing page, login page, sign in page, settings page, profile page, home page, homepage, start page,
     product page, checkout page, detail page, overview page, pricing page, error page, search page,
     cart page, account page, article page, about page, status page, help page, login screen, home screen,
     lock screen, sign up form, signup form, login form, contact form, order form, search form,
     booking form, multi step form`,
  ],
  [
    2,
    `registration form, application form, survey form, onboarding, walkthrough, product tour, guided tour,
     tour, seat map, floor plan, seating plan, photo album, news feed, story feed, storefront, kiosk,
     settings screen, splash, org chart, family tree, tree view, mind map, flow chart, flowchart,
     node editor`,
  ],
  // What hands do on it.
  [
    3,
    `drag, drag and drop, draggable, swipe, pinch, gesture, hover, long press, double click, right click,
     scroll, scrolling, infinite scroll, zoom, zooming, pan and zoom, lasso, crop, cropper, rearrange,
     tap, touch, touchscreen, touch screen, multi touch, haptic, stylus, joystick, on screen keyboard,
     resize handle`,
  ],
  [
    2,
    `scrollbar, scrollable, resizable, resize, resized, collapsible, collapse, expandable, sticky, snap,
     snapping, pan, mouse, finger, reorder, click, clicking, focus, drill down, keyboard shortcut,
     keyboard navigation, interactive, spin, rotate, flip, sketch, draw, paint, brush, highlight,
     magnifier, selection, pull to refresh, hotkey, key binding, keybinding, undo button, arrow key`,
  ],
  // How it looks, and who can read it.
  [
    3,
    `dark mode, dark theme, light theme, night mode, light mode, theme, theming, redesign, responsive,
     typography, animation, animate, animated, animating, parallax, micro interaction, gradient,
     drop shadow, colour scheme, color scheme, high contrast, right to left, rtl, screen reader, wcag,
     aria, focus ring, focus order, focus trap, 60 fps, frame rate, colour coded, color coded,
     at a glance, masonry, breakpoint, whitespace between`,
  ],
  [
    2,
    `accessibility, a11y, contrast, font, font size, legible, readable, unreadable, alignment, misaligned,
     spacing, portrait, landscape, orientation, tablet, ipad, phones, mobile app, small screens,
     large text, large digits, retina, pixel, overlap, overlaps, overlapping, cut off, clipped,
     truncated text, flicker, flickers, jumps, jump, janky, blurry, stutter, stutters, covers,
     side by side, colour blind, color blind, transition, crossfade, fade in, fade, centred, centered,
     off centre, traffic light, cover photo, slide over, reaction, reactions, bubbles, swipe to,
     wide display`,
  ],
  [
    1,
    `colour, color, coloured, colored, padding, margin, shadow, rounded corner, border, smooth, smoothly,
     pretty, glance, logo, dot, line, row, style, styled, marker, pin, arrow, shape, visible, dim`,
  ],
  // Pictures of data.
  [
    3,
    `bar chart, line chart, pie chart, heat map, heatmap, treemap, tree map, scatter plot, histogram,
     sparkline, gantt, sankey, donut, doughnut, gauge, waveform, spectrogram, box plot, candlestick,
     radar chart, floor map`,
  ],
  [
    2,
    `diagram, graph view, plot, infographic, map view, world map, interactive map, on a map, map, heat,
     axis, legend, deck, crossfader, palette, bell, notification bell, unread dot, pad, layers,
     onion skin, frozen header, switch between, print preview, page break, resizable column, two columns,
     three columns, visual query builder, zebra row, right aligned, word cloud, dial, speedometer,
     week calendar, calendar view, month view, week view, day view, agenda, leaderboard screen,
     stacked bar, bars, 3d, three dimensional, viewer component, scene, terrain view`,
  ],
  // The same by field: games, sound, talk, shops, documents, and words for what looks wrong.
  [
    3,
    `chat window, chat bubble, speech bubble, message thread view, game lobby, lobby, countdown,
     scoreboard, score board, light up, lights up, look good, looks broken, looks wrong, look broken,
     looks bad, appearance, re style, visual polish, flash white, flashes, sluggish, laggy, choppy,
     wobbles, layout shift, out of view, off screen, off the edge, invisible, too small to hit,
     hard to read, touch target, hit area, tap target, click target, scroll position, scroll bar,
     viewport, image carousel, image viewer, photo viewer, pdf viewer, document viewer, map pin,
     map marker, street map, route drawn, sticky header, frozen column, resizable columns, column widths,
     row height, cell editing, pivot table, data table, colour wheel, color wheel, colour palette,
     gradient editor, layer panel, brush size, canvas editor, shape tool, ruler, multi column, two column,
     three column, off canvas, floating button, speed dial, rating stars, star rating, avatars,
     search suggestions, date range picker, calendar month, month calendar, drum pad, keyboard arrows,
     remote control, widget board, home screen widget, live tile, watch face, smartwatch, car display,
     touch panel, tv app, wall display, flashcard, playing card, chess board, game board, puzzle board,
     jigsaw, dice, tilt, confetti, ripple effect`,
  ],
  [
    2,
    `tile view, card view, card layout, image grid, photo grid, table layout, cards on, tables on, stars,
     portraits, pictures, redo the, rework the page, rework the settings, rearrange the, fresh look,
     new look, modern look, restructure the page, conversation, chat like, drop handle, drop a file,
     drop files, dropping a file, courier on map, chart type, visible on, unreadable on, in dark, looks,
     look like, zoomable, movable, dragged, floating, blinking, glow, hover state, active state,
     disabled state, empty screen, white screen, blank screen, blank page, white page, scroll to,
     jump to top, arrow keys, swipe handle, playhead, seek bar, seek, volume slider, controls bar,
     controls, player, typing, bubble, welcome screen, bedienelemente, bedienelement, videoplayer,
     knopfleiste, startansicht, reiter, suchfeld, symbolleiste, einstellungen, anordnen, darstellen, bild,
     bilder, foto, fotos, spalte, knöpfe, schriftart, schrift, kontrast, wochenansicht, monatsansicht,
     detailblatt, kacheln, verschieben, -kurve, hervorheben, vollbild, vue semaine, vue mois, sélecteur,
     curseur, colonnes, polices, contraste, plein écran, vignettes, vista mensual, vista semanal, imagen,
     imágenes, selector, columnas, pantalla completa, arrastrables`,
  ],
  // What a backlog of a screen is full of.
  [
    3,
    `quick view, compare view, side nav, nav bar, mega menu, tag cloud, infinite list, help bubble,
     coach mark, tutorial overlay, wallpaper, gif picker, story viewer, camera view, viewfinder,
     photo filter, before after slider, signature pad, handwriting, post it, sticky note, level map,
     character selection, skill tree, health bar, clock face, day planner, seat picker, seat selection,
     room plan, store finder, location picker, route map, street view, kpi tile, news ticker, hero image,
     confirm dialog, confirmation dialog, strength meter, progress steps, file drop area, upload progress,
     image preview, crop tool, profile card, user card, hover card, activity feed, notification center,
     notification centre, inbox view, chat screen, call screen, video grid, lyrics view, mixer, fader,
     knob, piano, sheet music, list view, detail view, grid view, map screen, search screen, start screen,
     game screen, title screen, loading screen, payment screen, order screen, settings dialog,
     side by side view, dark variant, light variant, high dpi, safe area, notch, soft keyboard,
     virtual keyboard, page builder, form builder, email builder, report designer, form designer,
     theme editor, css variables, media query, media queries, web fonts, web font, icon set, icon font`,
  ],
  [
    2,
    `sticker, emoji, subtitle, compass, radar, trend arrow, ticker, testimonial, meter, rows and columns,
     thumbnails, checkboxes, radio, clickable, tappable, selectable, selected, unselected, disabled look,
     overflow, overflows, stretch, stretched, squashed, shifted, pushed down, hidden behind, behind the,
     on top of each other, in front of, hard to see, hard to hit, difficult to read, too dark, too bright,
     eye catching, bottom bar, top bar, header bar, footer bar`,
  ],
  // What people say who want to see something.
  [0.8, 'want to see, i see, see my, see all, preview'],
  [2, 'see at a glance, look at, pick from, choose from, browse through, walk me'],
  [0.5, 'see'],
  [1, 'browse, choose, pick, show me, displays, displayed, shows, compare, glimpse, spot'],
  // German, with the ends of its compounds.
  [
    3,
    `menüleiste, oberfläche, -oberfläche, benutzeroberfläche, ansicht, -ansicht, -ansichten, diagramm,
     -diagramm, -diagramme, bildschirm, -bildschirm, -schirm, startseite, -seitenleiste, seitenleiste,
     werkzeugleiste, -leiste, fenster, -fenster, dialogfenster, -dialog, -menü, menü, -auswahl,
     farbauswahl, -maske, eingabemaske, -kacheln, kachel, dunkelmodus, dunkles design, dunkles thema,
     farbschema, schieberegler, fortschrittsbalken, -balken, vorschau, formular, -formular, -formulare,
     -editor, ziehen und ablegen, drag & drop, scrollen, zoomen, wischen, barrierefrei, barrierefreiheit,
     kalenderansicht, grafisch, grafische, darstellung, gestaltung, neugestaltung, umgestalten`,
  ],
  [
    2,
    `karte, -karte, landkarte, kalender, galerie, zeichenfläche, zeichenbereich, -bereich, schaltfläche,
     anzeige, -anzeige, anzeigen, tabelle, ziehen, antippen, handy, smartphone, farbig, farben,
     schriftgröße, maus, assistent, zeitleiste, zeitstrahl, spalten, -seite, zeichnen, pinsel,
     übersichtlich`,
  ],
  // French.
  [
    3,
    `l interface, une interface, nouvelle interface, interface de, interface pour, écran, vue, graphique,
     tableau de bord, page d accueil, maquette, fenêtre, barre latérale, mise en page, mode sombre,
     thème sombre, thème, glisser, glisser déposer, carrousel, menu déroulant, refonte, fenêtre modale,
     barre de progression, défilement, faire défiler, accessibilité, survol, interface utilisateur`,
  ],
  [
    2,
    `formulaire, assistant en, assistant de, aperçu, carte interactive, carte, calendrier, icône,
     affichage, onglet, onglets, afficher, bandeau, diagramme, courbe, camembert, téléphone, tactile,
     tablette, couleurs, étapes, accueil, page produit, adapté aux mobiles, mise en forme, zoomer, souris,
     dessin, dessiner, vignette, frise`,
  ],
  // Spanish.
  [
    3,
    `interfaz, pantalla, vista, gráfico, gráfica, tablero, panel de control, modo oscuro, tema oscuro,
     diseño adaptable, arrastrar, arrastrar y soltar, deslizar, ventana, ventana emergente, barra lateral,
     barra de progreso, rediseño, rediseñar, maquetación, carrusel, página de inicio, menú desplegable,
     accesibilidad, disposición, diseño`,
  ],
  [
    2,
    `formulario, asistente, vista previa, mapa, mapa interactivo, calendario, galería, icono, animación,
     pestaña, pestañas, tarjeta, tarjetas, mostrar, visualización, móvil, tableta, colores, táctil, menú,
     dibujar, ratón`,
  ],
  // Italian, Portuguese, Dutch, Russian, Japanese, Chinese.
  [
    3,
    `interfaccia, schermata, schermo, grafico, cruscotto, tela, painel, scherm, weergave, grafiek, экран,
     интерфейс, график, диаграмма, тёмная тема, 画面, 表示画面, グラフ, ダッシュボード, ボタン, デザイン,
     界面, 图表, 页面`,
  ],
  [
    2,
    `colunas, arrastar, arrastadas, tabela, tabella, scorrere, trascinare, pagina iniziale,
     página inicial, formulier, slepen, donkere modus, tema scuro, tema escuro, modalità scura, форма,
     кнопки, страница, レイアウト, メニュー, フォーム, アニメーション`,
  ],
  // What would be too much said by a part of it.
  [2, 'date strip, hourly strip, wraps over, wrap over'],
];
