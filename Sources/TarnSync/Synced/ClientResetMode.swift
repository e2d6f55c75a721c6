public import Tarn

/// The treatment of unsent commits in a reset: the server is another one, was restored from a
/// backup, or has forgotten deletions that the file does not know because it was away for more than
/// 30 days.
///
/// All objects are compared then. Callbacks are called on the session's thread; their Realms belong
/// to it. In `beforeReset` the Realm is frozen; `afterReset` gets that one, and one that shows the
/// file as it is now.
public enum ClientResetMode: Sendable {
  /// Gets the frozen Realm before the reset.
  public typealias BeforeReset = @Sendable (Realm) -> Void
  /// Gets the frozen Realm before the reset, and a live one.
  public typealias AfterReset = @Sendable (Realm, Realm) -> Void

  /// The session waits, and reports ``SyncError/Code/clientResetError``, to `errorHandler` if there
  /// is one and otherwise to that of the app. The file can still be read and written.
  case manual(errorHandler: SyncManager.ErrorHandler? = nil)
  /// Commits that were not sent are lost: the file becomes what the server has.
  case discardUnsyncedChanges(beforeReset: BeforeReset? = nil, afterReset: AfterReset? = nil)
  /// Commits that were not sent stay, and are sent. The standard.
  case recoverUnsyncedChanges(beforeReset: BeforeReset? = nil, afterReset: AfterReset? = nil)
  /// The same as `recoverUnsyncedChanges`, which always succeeds.
  case recoverOrDiscardUnsyncedChanges(
    beforeReset: BeforeReset? = nil, afterReset: AfterReset? = nil)

  /// - Parameter configuration: of the file, without synchronization.
  func rule(_ configuration: Realm.Configuration) -> ResetRule {
    switch self {
    case .manual: ResetRule(.wait)
    case .discardUnsyncedChanges(let before, let after):
      ResetRule(.discard, configuration, before, after)
    case .recoverUnsyncedChanges(let before, let after),
      .recoverOrDiscardUnsyncedChanges(let before, let after):
      ResetRule(.recover, configuration, before, after)
    }
  }
}

extension ResetRule {
  fileprivate init(
    _ mode: Mode, _ configuration: Realm.Configuration,
    _ before: ClientResetMode.BeforeReset?, _ after: ClientResetMode.AfterReset?
  ) {
    if before == nil, after == nil {
      self.init(mode)
      return
    }
    let past = PastRealm(configuration)
    self.init(
      mode, before: { before?(try past.freeze()) },
      after: { if let after { try past.use(after) } })
  }
}

/// The state of a file before a reset. It is used on the session's thread alone.
private final class PastRealm: @unchecked Sendable {
  // because: the session calls both blocks on its thread.
  private let configuration: Realm.Configuration
  private var frozen: Realm?

  init(_ configuration: Realm.Configuration) { self.configuration = configuration }

  func freeze() throws -> Realm {
    let realm = try Realm(configuration: configuration).freeze()
    frozen = realm
    return realm
  }

  func use(_ body: ClientResetMode.AfterReset) throws {
    let live = try Realm(configuration: configuration)
    live.refresh()
    body(frozen ?? live.freeze(), live)
    frozen = nil
  }
}
