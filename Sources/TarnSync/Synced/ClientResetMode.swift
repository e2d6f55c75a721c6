public import Tarn

/// The treatment of unsent commits in a reset: the server is another one, was restored from a
/// backup, or no longer has deletions that the file does not know because it was offline for more
/// than 30 days.
///
/// All objects are compared then. Callbacks are called on the session's thread, and their Realms
/// belong to it. `beforeReset` receives a frozen Realm; `afterReset` receives that Realm and the
/// Realm at its current version.
public enum ClientResetMode: Sendable {
  /// Receives the frozen Realm before the reset.
  public typealias BeforeReset = @Sendable (Realm) -> Void
  /// Receives the frozen Realm before the reset, and a live one.
  public typealias AfterReset = @Sendable (Realm, Realm) -> Void

  /// The session waits, and reports ``SyncError/Code/clientResetError`` to `errorHandler`, or to
  /// the app's handler without one. The file can still be read and written. The handler may let the
  /// reset continue: ``SyncError/clientResetInfo()``.
  case manual(errorHandler: SyncManager.ErrorHandler? = nil)
  /// Unsent commits are discarded: the file gets the server's state.
  case discardUnsyncedChanges(beforeReset: BeforeReset? = nil, afterReset: AfterReset? = nil)
  /// Unsent commits are kept and sent. The default.
  case recoverUnsyncedChanges(beforeReset: BeforeReset? = nil, afterReset: AfterReset? = nil)
  /// The same as `recoverUnsyncedChanges`, which always succeeds.
  case recoverOrDiscardUnsyncedChanges(
    beforeReset: BeforeReset? = nil, afterReset: AfterReset? = nil)

  /// - Parameters:
  ///   - configuration: the configuration of the file, without synchronization.
  ///   - permission: lets a manual reset continue.
  func rule(_ configuration: Realm.Configuration, _ permission: ResetPermission) -> ResetRule {
    switch self {
    case .manual: ResetRule(.wait, permission: permission)
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

/// The state of a file before a reset. Used only on the session's thread.
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
