import Foundation
public import Tarn
import TarnStore

/// How a Realm is synchronized: its user, and the treatment of errors.
public struct SyncConfiguration: Sendable {
  /// The user with whose login the session connects to the server.
  public let user: User
  /// Whether opening fails if it waits for the server and that cannot be reached. Otherwise it
  /// waits until the server can be reached.
  public let cancelAsyncOpenOnNonFatalErrors: Bool
  /// The treatment of unsent commits when the server is another one or was restored.
  public let clientResetMode: ClientResetMode
  let initialSubscriptions: (@Sendable (SyncSubscriptionSet) -> Void)?
  let rerunOnOpen: Bool
}

extension User {
  /// The file of the user's synchronized Realms.
  fileprivate var fileURL: URL {
    app.folder
      .appending(path: "files/\(UserFile.fileName(app.id))/\(UserFile.fileName(id)).realm")
  }

  /// The configuration of a Realm that has the objects of its subscriptions and keeps them in sync
  /// with the server.
  ///
  /// Without subscriptions it has no objects, and refuses writes. Each user has a separate file in
  /// `~/.local/share/tarn/files` unless `fileURL` is set. Unsent commits survive everything: a
  /// reset keeps and sends them.
  ///
  /// - Parameters:
  ///   - clientResetMode: the treatment of unsent commits when the server is another one or was
  ///     restored.
  ///   - cancelAsyncOpenOnNonFatalErrors: whether opening fails if it waits for the server and that
  ///     cannot be reached.
  ///   - initialSubscriptions: creates the subscriptions of a file without any; called while
  ///     opening.
  ///   - rerunOnOpen: whether to call it each time the Realm is opened.
  public func flexibleSyncConfiguration(
    clientResetMode: ClientResetMode = .recoverUnsyncedChanges(),
    cancelAsyncOpenOnNonFatalErrors: Bool = false,
    initialSubscriptions: (@Sendable (SyncSubscriptionSet) -> Void)? = nil,
    rerunOnOpen: Bool = false
  ) -> Realm.Configuration {
    var configuration = Realm.Configuration.defaultConfiguration
    configuration.fileURL = fileURL
    configuration.syncConfiguration = SyncConfiguration(
      user: self, cancelAsyncOpenOnNonFatalErrors: cancelAsyncOpenOnNonFatalErrors,
      clientResetMode: clientResetMode,
      initialSubscriptions: initialSubscriptions, rerunOnOpen: rerunOnOpen)
    return configuration
  }
}

extension Realm.Configuration {
  /// How the Realm is synchronized; nil for a local one.
  public var syncConfiguration: SyncConfiguration? {
    get { (companion as? SyncCompanion)?.configuration }
    set { companion = newValue.map { SyncCompanion($0) } }
  }
}

/// Begins the session of a file when it is opened.
final class SyncCompanion: StoreCompanion {
  let configuration: SyncConfiguration

  init(_ configuration: SyncConfiguration) { self.configuration = configuration }

  /// Creates the folder of the user's files, unless the program has chosen another one.
  func prepare(_ opened: Realm.Configuration) throws(Realm.Error) {
    let url = configuration.user.fileURL
    guard opened.inMemoryIdentifier == nil, opened.fileURL == url else { return }
    let folder = url.deletingLastPathComponent()
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw Realm.Error(
        .fileOperationFailed,
        message: "The folder of the user's files, \(folder.path), cannot be created: "
          + error.localizedDescription, fileURL: url)
    }
  }

  func attach(
    to store: Store, classes: [String], _ opened: Realm.Configuration
  ) throws(Realm.Error) -> AnyObject {
    try session(store, classes, opened)
  }

  private func session(
    _ store: Store, _ classes: [String], _ opened: Realm.Configuration
  ) throws(Realm.Error) -> SyncSession {
    do throws(StorageError) {
      return try SessionHub.shared.session(of: store, classes, configuration, opened)
    } catch {
      throw Realm.Error(synchronizing: error)
    }
  }

  func download(
    into store: Store, classes: [String], _ opened: Realm.Configuration,
    _ behavior: Realm.OpenBehavior,
    isCancelled: @Sendable () -> Bool
  ) throws(Realm.Error) -> AnyObject & Sendable {
    let session = try session(store, classes, opened)
    do {
      if behavior == .never { return session }
      if behavior == .once, try ReplicaReport.isComplete(store) { return session }
      try session.blockUntilDownloaded(configuration, isCancelled)
      return session
    } catch let error as SyncError {
      let code: Realm.Error.Code =
        error.code == .invalidFlexibleSyncSubscriptions ? .subscriptionFailed : .fail
      throw Realm.Error(code, message: error.message)
    } catch let error as StorageError {
      throw Realm.Error(synchronizing: error)
    } catch {
      throw Realm.Error(.fail, message: "\(error)")
    }
  }
}

extension Realm {
  /// The session of the file; nil for a Realm without one.
  public var syncSession: SyncSession? { SessionHub.shared.session(of: store) }
}
