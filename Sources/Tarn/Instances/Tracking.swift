import Observation
import TarnStore

/// Tells Swift's Observation what is read of one instance, and what changes.
///
/// There is one registrar for the instance. What is read has a key path with a token in it, so that
/// the token lives for as long as somebody waits for a change of that: meanwhile it observes the
/// property as other observers of properties do. No token is made for what is read outside of
/// `withObservationTracking`.
///
/// Confined to the instance's scheduler, but for the end of a token.
final class Tracking: Observable {
  /// What can be read.
  enum Subject: Hashable {
    case property(LinkTarget, ColumnID)
    /// Whether an object is there.
    case object(LinkTarget)
    /// What depends on all objects of these classes.
    case classes(Set<ClassID>)
  }

  private unowned let instance: Instance
  private let registrar = ObservationRegistrar()
  private var tokens: [Subject: WeakToken] = [:]
  private var cleanUpAt = 64
  /// What is noted to find out whether anybody tracks: then it is kept by who does.
  private var probe = Tracking.makeProbe()

  private struct WeakToken {
    weak var token: TrackingToken?
  }

  init(_ instance: Instance) { self.instance = instance }

  /// Of what the key paths are; nobody reads it.
  subscript(token: TrackingToken) -> Int { 0 }

  private static func makeProbe() -> KeyPath<Tracking, Int> { \Tracking.[TrackingToken(nil)] }

  // MARK: - Reading

  /// Notes a read. Runs no user code.
  func note(_ subject: Subject) {
    // What somebody waits for already is noted without a question.
    guard let token = known(subject) ?? (isTracked ? makeToken(for: subject) : nil) else { return }
    registrar.access(self, keyPath: token.keyPath)
  }

  /// The same of a collection's content.
  func note(_ source: any ObservedSource) {
    if tokens.isEmpty, !isTracked { return }
    var classes = source.concerningClasses
    if let owner = source.owner { classes.insert(owner.classID) }
    note(.classes(classes))
  }

  /// True inside of `withObservationTracking`. That does not say so, but keeps what is noted in it.
  private var isTracked: Bool {
    registrar.access(self, keyPath: probe)
    if isKnownUniquelyReferenced(&probe) { return false }
    // It may be an earlier block that has it.
    probe = Self.makeProbe()
    registrar.access(self, keyPath: probe)
    return !isKnownUniquelyReferenced(&probe)
  }

  private func known(_ subject: Subject) -> TrackingToken? {
    guard !tokens.isEmpty, let known = tokens[subject]?.token, known.isActive else { return nil }
    return known
  }

  private func makeToken(for subject: Subject) -> TrackingToken {
    if tokens.count >= cleanUpAt {
      // A copy: a token that goes right now takes itself out of the table.
      let all = tokens
      tokens = all.filter { $0.value.token != nil }
      cleanUpAt = max(64, 2 * tokens.count)
    }
    let observation = TrackingObservation(self, instance, subject)
    let token = TrackingToken(TrackingHost(instance, observation.state, subject))
    observation.token = token
    tokens[subject] = WeakToken(token: token)
    instance.add(observation)
    return token
  }

  /// A token has ended; another one may have come instead.
  fileprivate func forget(_ subject: Subject) {
    if tokens[subject]?.token == nil { tokens[subject] = nil }
  }

  // MARK: - Changes

  fileprivate func willChange(_ token: TrackingToken) {
    registrar.willSet(self, keyPath: token.keyPath)
  }

  fileprivate func didChange(_ token: TrackingToken) {
    registrar.didSet(self, keyPath: token.keyPath)
  }
}

/// Lives as long as somebody waits for a change of what it stands for.
final class TrackingToken: Hashable {
  private let host: TrackingHost?
  private weak var known: KeyPath<Tracking, Int>?

  fileprivate init(_ host: TrackingHost?) { self.host = host }

  deinit { host?.end() }

  /// Its object may have gone for good.
  fileprivate var isActive: Bool { host?.state.isActive ?? false }

  fileprivate var keyPath: KeyPath<Tracking, Int> {
    if let known { return known }
    let made: KeyPath<Tracking, Int> = \Tracking.[self]
    known = made
    return made
  }

  static func == (a: TrackingToken, b: TrackingToken) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Ends the observation of a token wherever that goes. It keeps nothing.
private final class TrackingHost: @unchecked Sendable {
  // because: the instance is used on its scheduler alone.
  private weak var instance: Instance?
  private let scheduler: Scheduler
  private let subject: Tracking.Subject
  let state: ObservationState

  init(_ instance: Instance, _ state: ObservationState, _ subject: Tracking.Subject) {
    self.instance = instance
    self.subject = subject
    scheduler = instance.scheduler
    self.state = state
  }

  func end() {
    state.end()
    if scheduler.isCurrent { unlink() } else { scheduler.schedule { self.unlink() } }
  }

  private func unlink() {
    instance?.endProperty(state)
    instance?.tracking?.forget(subject)
  }
}

/// What is told of changes of something that is tracked.
private final class TrackingObservation: PropertyObservation {
  weak var token: TrackingToken?
  // The instance has both.
  private unowned let tracking: Tracking
  private unowned let instance: Instance
  private let subject: Tracking.Subject

  init(_ tracking: Tracking, _ instance: Instance, _ subject: Tracking.Subject) {
    self.tracking = tracking
    self.instance = instance
    self.subject = subject
  }

  override func hook() {
    func entry(_ column: ColumnID?) -> PropertyHook {
      PropertyHook(observation: self, column: column, isRoot: true, isLast: true)
    }
    switch subject {
    case .property(let row, let column): instance.properties?.hook(entry(column), to: row)
    case .object(let row): instance.properties?.hook(entry(nil), to: row)
    case .classes(let ids): for id in ids { instance.properties?.hook(entry(nil), to: id) }
    }
  }

  override func begin(_ kind: PropertyEffect.Kind) -> (() -> Void)? {
    guard let token else { return nil }
    tracking.willChange(token)
    return { [tracking] in tracking.didChange(token) }
  }
}
