import Tarn
import TarnStore

/// Which kinds of changes a batch must have, from the states before and after it.
///
/// Conditions are evaluated by the functions of `FeedConsumer.Kind`, not by queries.
struct FeedOracle {
  private struct Seen {
    let isSelected: Bool
    /// Differs from that of any other object with the same primary key.
    let birth: Int
    let text: String
  }

  /// The states after commits.
  private var states: [UInt64: Realm] = [:]

  /// Notes the newest version, of which `realm` is the only writer.
  mutating func note(_ realm: Realm) throws {
    guard let path = realm.configuration.fileURL?.path,
      let store = StoreRegistry.store(at: .file(path))
    else { return }
    states[try store.newestSnapshot().version.rawValue] = realm.freeze()
  }

  /// The faults of a batch, one line for each object.
  func faults(in batch: ChangeBatch, of kind: FeedConsumer.Kind) -> [String] {
    guard batch.fullResync == nil, kind.keepsOldValues || batch.changes.reachesNewest else {
      return []
    }
    guard let before = states[batch.from], let after = states[batch.to] else {
      return ["there is no state \(batch.from) or \(batch.to)"]
    }
    var told: [String: RecordedChange.Kind] = [:]
    var faults: [String] = []
    for name in batch.classNames {
      for change in batch.changes(ofClass: name).recorded {
        let former = told.updateValue(change.kind, forKey: change.identity.description)
        if former != nil { faults.append("\(change.identity) is reported twice") }
      }
    }
    let (old, new) = (seen(before, kind), seen(after, kind))
    for identity in Set(old.keys).union(new.keys).union(told.keys).sorted() {
      let kinds = allowed(old[identity], new[identity], kind, isRepeated: batch.isRepeated)
      if kinds.contains(told[identity]) { continue }
      let text = told[identity].map { "\($0)" } ?? "nothing"
      faults.append("\(identity) is reported as \(text), \(batch.from) to \(batch.to)")
    }
    return faults
  }

  /// The changes that may be reported for an object; nil for no change.
  private func allowed(
    _ before: Seen?, _ after: Seen?, _ kind: FeedConsumer.Kind, isRepeated: Bool
  ) -> Set<RecordedChange.Kind?> {
    let isNew = before?.birth != after?.birth
    switch (before?.isSelected ?? false, after?.isSelected ?? false) {
    case (false, false):
      // A consumer may have received an object that was added and deleted.
      let mayBeKnown = isRepeated || (before != nil && !kind.knowsMatches)
      return mayBeKnown ? [nil, after == nil ? .deleted : .left] : [nil]
    case (false, true):
      if !isNew { return [.entered] }
      var kinds: Set<RecordedChange.Kind?> = [.inserted]
      if !kind.knowsMatches, before != nil { kinds.insert(.replaced) }
      // It may have been added before the batch, by commits that were not reported.
      if kind.limit != .none { kinds.insert(.entered) }
      return kinds
    case (true, true):
      if isNew { return [.replaced] }
      var kinds: Set<RecordedChange.Kind?> = [.modified]
      if !kind.knowsMatches { kinds.insert(.entered) }
      if before?.text == after?.text { kinds.insert(nil) }
      return kinds
    case (true, false): return [after == nil ? .deleted : .left]
    }
  }

  /// The objects of a state.
  private func seen(_ state: Realm, _ kind: FeedConsumer.Kind) -> [String: Seen] {
    var seen: [String: Seen] = [:]
    for thing in state.objects(FeedThing.self) {
      seen["FeedThing \(thing.id)"] = Seen(
        isSelected: kind.selects(thing), birth: thing.birth, text: kind.text(thing))
    }
    if kind.isOfThings { return seen }
    for owner in state.objects(FeedOwner.self) {
      seen["FeedOwner \"\(owner.name)\""] = Seen(
        isSelected: true, birth: owner.birth, text: "\(owner.rank)")
    }
    return seen
  }
}
