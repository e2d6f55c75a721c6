import Synchronization
package import TarnStore

/// The content of a model on one instance: the results of a query, a list, or backlinks. All
/// collections and observers with an equal model share it.
///
/// Content is computed at its first use. Then it is updated: by each step while it is observed,
/// else at its next use. Contents share their equal parts, so an older one (kept by a loop, or for
/// an observer that has not been called yet) costs only the difference.
///
/// Declarations that the package's tools need are open to them: a source works with any `LiveHost`.
///
/// Threading: confined to the instance's scheduler; for a frozen instance, `current` may be called
/// on any thread.
package final class LiveSource<Model: LiveModel>: ObservedSource {
  package typealias Content = Model.Content

  /// The content inside an open write, at a position of its journal. Elsewhere in memory, because
  /// few of many sources are read in writes.
  private final class Working {
    let content: Content
    let serial: UInt64
    let position: ChangeRecorder.Position

    init(_ content: Content, _ write: ActiveWrite) {
      self.content = content
      serial = write.serial
      position = write.position
    }
  }

  /// The content known for the current version.
  private enum State {
    case unknown
    /// The content at that step, to be updated at its next use.
    case known(Content, step: Int)
    /// The content at the instance's step. An observer has received it, and each step that concerns
    /// it is logged.
    case followed(Content)
  }

  package private(set) var model: Model
  /// Asks the program's code for values of the current content that only it can compute, such as
  /// section keys. A model never runs such code itself: this is called on the instance's scheduler
  /// only.
  private let ask: ((Content) -> Void)?
  // Every user of a source has its instance: collections retain it, and it retains observations.
  private unowned let host: any LiveHost
  private var state = State.unknown
  /// The scopes of its observers, each once.
  private(set) var logs: [ScopedLog] = []
  /// The same by scope, if there are more than `fewLogs`; else empty.
  private var logsByScope: [Scope: ScopedLog] = [:]
  /// The same scopes in the form that a model takes.
  private var scopes: [BoundScope] = []
  /// Finds which of many logs a move may concern; made at its first use.
  private var logIndex: ScopeTrie?
  var number: Int?
  /// The content inside the open write.
  private var working: Working?
  /// The content of a frozen instance, the only part of its sources that changes.
  private let frozen: OnceValue<Content>?
  var isAwaited = false

  package init(
    _ model: Model, on host: any LiveHost, asking ask: ((Content) -> Void)? = nil
  ) {
    self.model = model
    self.host = host
    self.ask = ask
    frozen = host.isFrozen ? OnceValue() : nil
  }

  /// Continues with an equal model of another schema, from the next step on. Known content and
  /// logged steps stay.
  ///
  /// - Precondition: no table has registered the source by its model.
  package func rebind(to model: Model, at schema: SchemaView) {
    self.model = model
    for log in logs {
      log.rebind(to: BoundScope(log.scope.scope, from: model.elementClasses, schema))
    }
    scopes = logs.map(\.scope)
    logIndex = nil
  }

  var owner: ObjectRef? { model.owner }
  var concerningClasses: Set<ClassID> { model.concerningClasses }
  var elementClasses: Set<ClassID> { model.elementClasses }
  var route: Route? { model.route }

  // MARK: - Reading

  /// The current content, including an open write's changes.
  package func current() throws(StorageError) -> Content {
    let content = try read()
    ask?(content)
    return content
  }

  /// The content at the current version without an open write, if known.
  var known: Content? {
    if case .nothing(let content) = missing() { content } else { nil }
  }

  /// Gives a source on a frozen instance the known content of its version.
  func show(_ content: Content) {
    guard let frozen else { trap("internal error: content for a source that is not frozen") }
    _ = trapping { () throws(StorageError) in
      try frozen.value { () throws(StorageError) in content }
    }
  }

  private func read() throws(StorageError) -> Content {
    if let frozen {
      return try frozen.value { () throws(StorageError) in
        try model.evaluateForReading(Rows(host.shown()))
      }
    }
    guard let write = host.activeWrite else {
      working = nil
      return try published()
    }
    let made = try content(inside: write)
    working = Working(made, write)
    return made
  }

  private func content(inside write: ActiveWrite) throws(StorageError) -> Content {
    let rows = Rows(host.shown(), write.session)
    var (content, seen): (Content, ChangeRecorder.Position)
    if let working, working.serial == write.serial, working.position == write.position {
      return working.content
    }
    if let working, working.serial == write.serial, !model.followsFromStart {
      (content, seen) = (working.content, working.position)
    } else if let known {
      (content, seen) = (known, .start)
    } else if model.followsIncrementally {
      (content, seen) = (try published(), .start)
    } else {
      return try model.evaluateForReading(rows)
    }
    try model.follow(&content, over: write.session.recorder.changes(since: seen), to: rows)
    return content
  }

  /// The content at the current version, without an open write.
  private func published() throws(StorageError) -> Content {
    let rows = Rows(host.shown())
    var content: Content
    switch missing() {
    case .nothing(let known): return known
    case .changes(let known, let missed):
      content = known
      try model.follow(&content, over: missed, to: rows)
    case .everything: content = try model.evaluateForReading(rows)
    }
    state = .known(content, step: host.step)
    return content
  }

  private enum Missing {
    case nothing(Content)
    case changes(Content, ChangeSet)
    case everything
  }

  /// The work needed to have the content of the current version.
  private func missing() -> Missing {
    switch state {
    case .unknown: return .everything
    case .followed(let content): return .nothing(content)
    case .known(let content, let step):
      if step == host.step { return .nothing(content) }
      guard let missed = host.recentSteps.changes(after: step, upTo: host.step) else {
        return .everything
      }
      return .changes(content, missed)
    }
  }

  /// True if the content has not been used yet.
  var isUnknown: Bool {
    if case .unknown = state { frozen == nil || frozen?.isKnown == false } else { false }
  }

  // MARK: - Observing

  var isFollowed: Bool {
    if case .followed = state { true } else { false }
  }

  private var followed: Content? {
    if case .followed(let content) = state { content } else { nil }
  }

  /// The owner was deleted, so an equal model needs another source.
  var isOwnerGone: Bool { followed?.isOwnerGone == true }
  var isGone: Bool { model.needsOwner && isOwnerGone }

  package func log(_ scope: Scope) -> ScopedLog {
    if let known = known(scope) { return known }
    let bound = host.scopes.bound(scope, from: model.elementClasses, host.shown().schema)
    let log = ScopedLog(bound, of: self)
    logs.append(log)
    if logs.count == 1 { scopes = host.scopes.alone(bound) } else { scopes.append(bound) }
    logIndex?.insert(bound, logs.count - 1)
    if logs.count > Self.fewLogs {
      if logsByScope.isEmpty { for log in logs { logsByScope[log.scope.scope] = log } }
      logsByScope[scope] = log
    }
    return log
  }

  private func known(_ scope: Scope) -> ScopedLog? {
    logsByScope.isEmpty ? logs.first { $0.scope.scope == scope } : logsByScope[scope]
  }

  func remove(_ log: ScopedLog) {
    logs.removeAll { $0 === log }
    scopes.removeAll { $0 === log.scope }
    logIndex = nil
    logsByScope[log.scope.scope] = nil
    if logs.count <= Self.fewLogs { logsByScope = [:] }
  }

  package func beginFollowing() throws(StorageError) {
    var content = try published()
    if !content.hasState { content = try model.evaluate(Rows(host.shown())) }
    state = .followed(content)
    model = model.compact
    isAwaited = false
    // Changes of an open write belong to no step.
    if host.activeWrite == nil { ask?(content) }
  }

  var asksProgram: Bool { ask != nil }

  func askAboutStep() {
    if let ask, let followed { ask(followed) }
  }

  func endFollowing() {
    isAwaited = false
    guard let content = followed else { return }
    state = .known(content, step: host.step)
  }

  @discardableResult
  package func follow(
    _ move: LiveMove, prepared: PreparedSteps = [:]
  ) throws(StorageError) -> Bool {
    let model = model
    guard case .followed(var content) = state, !content.isOwnerGone,
      model.hasStep(over: move.changes, seen: scopes)
    else { return false }
    state = .unknown  // The content is changed in place: nobody else may hold it.
    var isNews = false
    if !prepared.isEmpty, let prepared = prepared[ObjectIdentifier(self)],
      scopes.allSatisfy({ prepared.scopes.contains(ObjectIdentifier($0)) })
    {
      if let made = prepared.content { content = made as! Content }
      for log in logs {
        let change = prepared.changes[ObjectIdentifier(log.scope)]
        if log.append(change, at: host.step) { isNews = true }
      }
    } else {
      var step = try model.advance(&content, over: move)
      let concerned = model.isQuiet(step) ? try concernedLogs(move) : nil
      for (number, log) in logs.enumerated() where concerned?.contains(number) != false {
        let change = try model.change(&step, &content, move, seen: log.scope)
        if log.append(change, at: host.step) { isNews = true }
      }
    }
    state = .followed(content)
    return isNews
  }

  /// Up to this number, logs are asked one by one.
  private static var fewLogs: Int { 8 }
  /// If more objects than this link to one, the logs are asked instead.
  private static var mostOrigins: Int { 1000 }

  /// The numbers of the logs in which a move may have modified something; nil to ask each log
  /// instead.
  private func concernedLogs(_ move: LiveMove) throws(StorageError) -> Set<Int>? {
    if logs.count <= Self.fewLogs { return nil }
    let index = logIndex ?? makeLogIndex()
    logIndex = index
    return try index.concerned(by: move.changes, move.rows, atMost: Self.mostOrigins)
  }

  private func makeLogIndex() -> ScopeTrie {
    var index = ScopeTrie()
    for (number, log) in logs.enumerated() { index.insert(log.scope, number) }
    return index
  }

  func baseline() -> LiveBaseline {
    trapping { () throws(StorageError) in
      let content = try current()
      var baseline = content.baseline
      if let map = model as? SequenceModel {
        baseline.keys = try map.keys(Rows(host.shown(), host.activeWrite?.session))
      }
      return baseline
    }
  }

  func elements(
    after change: LiveChange?, in state: PastState, since past: PastState?, seen scope: Scope
  ) -> PastElements {
    let (known, content) = (change?.elements, change == nil ? followed : nil)
    let model = model
    return PastElements(of: model.elementClasses, in: state) {
      () throws(StorageError) in
      if let known { return known }
      let rows = try state.rows()
      if let content { return try model.elements(content, rows) }
      return try model.elements(model.evaluate(rows), rows)
    } walk: { () throws(StorageError) in
      guard let past else { return nil }
      return try NestedWalk(from: past, to: state, scope, in: model as? SequenceModel)
    }
  }

  // MARK: - Leaving work to others

  func costOfFirstCall() -> LiveCost {
    switch missing() {
    case .nothing(let content) where content.hasState: .none
    case .changes(let content, let missed) where content.hasState:
      model.cost(ofFollowing: missed, from: content, seen: [])
    case .nothing, .changes, .everything:
      trapping { () throws(StorageError) in try model.cost(ofEvaluating: Rows(host.shown())) }
    }
  }

  func cost(ofFollowing changes: ChangeSet) -> LiveCost {
    followed.map { model.cost(ofFollowing: changes, from: $0, seen: scopes) } ?? .none
  }

  var firstItem: any WorkItem { ModelWorkItem(model, .evaluate) }

  var stepItem: (any WorkItem)? { followed.map { ModelWorkItem(model, .step($0, seen: scopes)) } }

  func adopt(_ answer: WorkResult, missed: ChangeSet?) {
    guard var content = answer.content as! Content? else { return }
    if let missed {
      trapping { () throws(StorageError) in
        try model.follow(&content, over: missed, to: Rows(host.shown()))
      }
    }
    state = .known(content, step: host.step)
    isAwaited = false
  }

  func cost(ofFollowing missed: ChangeSet, from answer: WorkResult) -> LiveCost {
    (answer.content as! Content?).map {
      model.cost(ofFollowing: missed, from: $0, seen: [])
    } ?? .none
  }

  func followItem(from answer: WorkResult) -> (any WorkItem)? {
    (answer.content as! Content?).map { ModelWorkItem(model, .follow($0)) }
  }
}

/// The rows of a query, shared by all collections and observers of it.
typealias LiveResult = LiveSource<ResultModel>

extension LiveResult {
  /// The number of rows if it is known without evaluating them: that of a whole class, or of a
  /// window on one.
  func countWithoutRows(_ rows: Rows) -> Int? {
    guard isUnknown, model.isOfWholeClass else { return nil }
    let all = trapping { () throws(StorageError) in try rows.count(of: model.query.classID) }
    return model.window?.clamped(to: 0..<all).count ?? all
  }

  /// The first or the last row before the rows have been evaluated, if an index has it:
  /// `.some(nil)` without rows, nil if they have to be evaluated.
  func endWithoutRows(isLast: Bool, _ rows: Rows) -> ObjectKey?? {
    guard model.window == nil, case .query(let query) = model.source, isUnknown else { return nil }
    return trapping { () throws(StorageError) in try query.end(isLast: isLast, rows) }
  }
}

/// A value that is computed once, by the first thread that asks. Others wait for it.
final class OnceValue<Value: Sendable>: Sendable {
  private final class Box: Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }

  private let known = AtomicLazyReference<Box>()
  /// Held by the thread that computes it.
  private let turn = Lock(())

  var isKnown: Bool { known.load() != nil }

  func value(_ make: () throws(StorageError) -> Value) throws(StorageError) -> Value {
    if let known = known.load() { return known.value }
    return try turn.withLock { _ throws(StorageError) in
      if let known = known.load() { return known.value }
      return known.storeIfNil(Box(try make())).value
    }
  }
}
