import Observation
import TarnStore

/// Reports the reads and changes of one instance to Swift's Observation.
///
/// There is one registrar for the instance. A read has a key path with a token in it, so that the
/// token lives as long as a tracked block waits for a change: meanwhile it observes the property
/// like other property observers. No token is made for reads outside of `withObservationTracking`.
///
/// Confined to the instance's scheduler, except for the end of a token.
final class Tracking: Observable {
  /// A subject of reads.
  enum Subject: Hashable {
    case property(ObjectRef, ColumnID)
    /// The existence of an object.
    case object(ObjectRef)
    /// Anything that depends on all objects of these classes.
    case classes(Set<ClassID>)
  }

  private unowned let instance: Instance
  private let registrar = ObservationRegistrar()
  private var tokens: [Subject: WeakToken] = [:]
  private var cleanUpAt = 64
  /// Noted to find out whether a block tracks reads: then that block retains it.
  private var probe = Tracking.makeProbe()

  private struct WeakToken {
    weak var token: TrackingToken?
  }

  init(_ instance: Instance) { self.instance = instance }

  /// The root of the key paths; never read.
  subscript(token: TrackingToken) -> Int { 0 }

  private static func makeProbe() -> KeyPath<Tracking, Int> { \Tracking.[TrackingToken(nil)] }

  // MARK: - Reading

  /// Notes a read. Runs no user code.
  func note(_ subject: Subject) {
    // A read that a block already waits for is noted without the check.
    guard let token = known(subject) ?? (isTracked ? makeToken(for: subject) : nil) else { return }
    registrar.access(self, keyPath: token.keyPath)
  }

  /// The same for a collection's content.
  func note(_ source: any ObservedSource) {
    if tokens.isEmpty, !isTracked { return }
    var classes = source.concerningClasses
    if let owner = source.owner { classes.insert(owner.classID) }
    note(.classes(classes))
  }

  /// True inside of `withObservationTracking`. It has no flag, but retains everything noted in it.
  private var isTracked: Bool {
    registrar.access(self, keyPath: probe)
    if isKnownUniquelyReferenced(&probe) { return false }
    // An earlier block may retain it.
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
      // A copy: a token that is released now removes itself from the table.
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

  /// A token has ended; another one may have replaced it.
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

/// Lives as long as a block waits for a change of its subject.
final class TrackingToken: Hashable {
  private let host: TrackingHost?
  private weak var known: KeyPath<Tracking, Int>?

  fileprivate init(_ host: TrackingHost?) { self.host = host }

  deinit { host?.end() }

  /// Its object may have been permanently deleted.
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

/// Ends the observation of a token on any thread. It retains nothing.
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

/// Receives changes of a tracked subject.
private final class TrackingObservation: PropertyObservation {
  weak var token: TrackingToken?
  // The instance owns both.
  private unowned let tracking: Tracking
  private unowned let instance: Instance
  private let subject: Tracking.Subject

  init(_ tracking: Tracking, _ instance: Instance, _ subject: Tracking.Subject) {
    self.tracking = tracking
    self.instance = instance
    self.subject = subject
  }

  override func hook() {
    func entry(_ column: ColumnID?) -> PropertyRegistration {
      PropertyRegistration(observation: self, column: column, isRoot: true, isLast: true)
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
