import TarnStore

/// A managed object or collection on its way to another thread, queue or actor.
///
/// Managed things belong to one thread, queue or actor. A reference to one belongs to none: make it
/// there, send or capture it, and resolve it where the thing is needed.
///
/// ```swift
/// let reference = ThreadSafeReference(to: order)
/// DispatchQueue.global().async {
///   let realm = try! Realm()
///   guard let order = realm.resolve(reference) else { return }  // deleted meanwhile
///   …
/// }
/// ```
///
/// It can be copied, kept, and resolved any number of times, in several of them at once. It holds
/// names and keys, never a version of the file: only the file stays open while a reference exists,
/// as it does for a Realm. What can be referred to, and by what it is found, is in the article
/// <doc:PassingData>.
public struct ThreadSafeReference<Confined: ThreadConfined>: Sendable {
  private let parcel: Parcel

  /// A reference to something managed. Threading: where that belongs; something frozen anywhere.
  ///
  /// Traps for something unmanaged, deleted or invalidated, for results derived from a collection
  /// that was created in the open write, for sections by a block, and in a migration.
  public init(to confined: Confined) {
    let realm = confined.realmToLeave("passed on")
    realm.core.checkThread()
    parcel = Parcel(confined._passage(), from: realm.core)
  }

  /// True if what it refers to is gone for good: deleted in the newest version of the file, or
  /// created in a write that was cancelled. Results of all objects of a class are never gone, those
  /// of a collection are when that is. Threading: any.
  ///
  /// A Realm that shows an older version may still have the object, and `resolve` returns it there.
  public var isInvalidated: Bool { parcel.isGone }

  /// - Returns: what it refers to; nil if it is not there.
  func resolve(in core: RealmCore) -> Confined? {
    guard let found = parcel.arrival(in: core) else { return nil }
    guard let found = found as? Confined else {
      trap("internal error: a reference to a '\(type(of: found))' as '\(Confined.self)'")
    }
    return found
  }

  /// The same in the Realm that lives where this code runs.
  func resolveHere() -> Confined? { resolve(in: parcel.instanceHere()) }
}

extension Realm {
  /// What a reference refers to, as this Realm shows it; nil if it is not there: it was deleted, or
  /// created in a write that was cancelled.
  ///
  /// A Realm that shows an older version than the reference was made at, or the same one if that
  /// was in a write, is refreshed first, which calls observers. One that shows nothing yet starts
  /// at the version of the reference if that is still in use and was not in a write, else at the
  /// newest. One that shows a newer version stays, and so do a Realm in a write, one that is
  /// calling an observer, and a frozen one.
  ///
  /// Traps for a reference to something in another file.
  ///
  /// - Returns: an object or collection of this Realm.
  public func resolve<Confined: ThreadConfined>(
    _ reference: ThreadSafeReference<Confined>
  ) -> Confined? {
    reference.resolve(in: core)
  }
}

/// What is in a reference, whatever it refers to.
private final class Parcel: Sendable {
  private let content: any Passage
  /// The write that made what it is about, which was open then.
  private let createdInWrite: WriteMark?
  /// While it is held, the file opened again is the same store.
  private let store: Store
  private let configuration: Realm.Configuration
  private let home: Scheduler.Key
  private let version: Version
  /// The state that was shown, for as long as somebody else holds it.
  private weak let snapshot: Snapshot?
  private let isFromWrite: Bool

  init(_ passage: _Passage, from core: RealmCore) {
    require(
      !core.isOfMigration,
      "Objects of a migration cannot be passed on: they end with its block, and their keys may "
        + "change. Pass them after the migration.")
    content = passage.content
    createdInWrite = passage.createdInWrite
    store = core.store
    configuration = core.configuration
    home = core.frozen?.home ?? core.scheduler.key
    snapshot = core.shown().snapshot
    version = core.shown().snapshot.version
    isFromWrite = core.session != nil
  }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? {
    require(
      core.store === store,
      "The reference is to an object or collection of '\(store.path)' and cannot be resolved in "
        + "'\(core.store.path)'. Resolve it in a Realm of its own file.")
    core.catchUp(to: version, isFromWrite ? nil : snapshot)
    let found = content.arrival(in: core)
    // Looked at last: keys of a cancelled write are used again by the next one.
    return createdInWrite?.wasCancelled == true ? nil : found
  }

  func instanceHere() -> RealmCore {
    RealmCache.here(store, configuration, home: home, for: "to resolve a reference")
  }

  var isGone: Bool {
    if let createdInWrite {
      if createdInWrite.wasCancelled { return true }
      if createdInWrite.isOpen { return false }
    }
    return trapping { () throws(StorageError) in
      let reader = try SnapshotReader(store.newestSnapshot())
      return switch content.anchor {
      case .nothing: false
      case .row(let row): try reader.row(row.key, in: row.classID) == nil
      case .sequence(let place): try reader.sequence(at: place) == nil
      }
    }
  }
}

extension RealmCore {
  /// True for the two sides of a migration, of which nothing outlives its block.
  fileprivate var isOfMigration: Bool { wakeUp == nil && !isFrozen }

  /// Moves on to where something of that version is to be found, if it may.
  ///
  /// - Parameter snapshot: what an instance that shows nothing yet may start with; nil if the
  ///   newest version is wanted.
  fileprivate func catchUp(to version: Version, _ snapshot: Snapshot?) {
    if isFrozen { return }
    checkThread()
    if session != nil || needsReset { return }
    guard let shown = state.version else {
      if let snapshot { start(with: snapshot) }
      return
    }
    if shown < version || shown == version && snapshot == nil { refresh() }
  }

  /// Shows an older version than the newest, unless that has another schema.
  private func start(with snapshot: Snapshot) {
    trapping { () throws(StorageError) in
      guard try newestFittingSnapshot().schema.epoch == snapshot.schema.epoch else { return }
      state.begin(with: try SnapshotReader(snapshot))
    }
    rowsMoved()
    if isBehind { scheduleTurn() }
  }
}
