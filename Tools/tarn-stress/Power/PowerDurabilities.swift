import Foundation
import Tarn
import TarnStore
import ToolSupport

/// Commits that are not durable when they return: see `Realm.Configuration.Durability`.
struct PowerDurabilities {
  private let workload: PowerWorkload
  private var path: String { workload.path }

  init(_ workload: PowerWorkload) { self.workload = workload }

  /// Programs with `consistent`, one after the other, and some with `full` in between. Some commits
  /// are flushed.
  func writeConsistently() throws {
    try StressStore.fill(path, isDurable: true)
    try workload.awaitClosed()
    try workload.begin()
    for round in 0..<workload.steps {
      try write(round, round % 3 == 2 ? .full : .consistent)
      try workload.awaitClosed()
    }
  }

  private func write(_ round: Int, _ durability: Realm.Configuration.Durability) throws {
    let realm = try Realm(configuration: workload.configuration(durability))
    // The former program's last commit may be missing, whatever this one's durability is.
    try workload.note(round == 0 ? .durable : .none)
    let writing = StressWriting(workload.worker, realm)
    var pin: ReadTransaction?
    for step in 0..<12 {
      if step == 3 { pin = try StoreRegistry.store(at: .file(path))?.environment.beginRead() }
      if step == 8 { pin = nil }
      let number = round * 12 + step
      try workload.writeOne(writing, realm, number)
      try workload.acknowledge()
      if number % 7 == 0 {
        try realm.flush()
        try workload.note(.durable)
      }
    }
    withExtendedLifetime(pin) {}
  }

  /// Programs with `relaxed`, one after the other: the file is durable while none uses it, and
  /// after a flush until the next commit.
  func writeRelaxed() throws {
    try workload.begin()
    try create()
    try workload.awaitClosed()
    for round in 0..<workload.steps {
      PowerTrace.noteRefusable(path)
      if round == 0 { try StressStore.fill(path, isDurable: false) }
      try writeRelaxed(round) { realm in
        guard round % 2 == 0 else { return }
        try realm.flush()
        try workload.note(.durable)
        PowerTrace.noteRefusable(path)
      }
      try workload.awaitClosed()
      try workload.acknowledgeClosed(path)
    }
  }

  private func create() throws {
    var options = Store.Options()
    options.durability = .relaxed
    options.adoptsClasses = false
    let store = try StoreRegistry.open(path, options)
    try workload.note(.durable)
    withExtendedLifetime(store) {}
  }

  private func writeRelaxed(_ round: Int, _ between: (Realm) throws -> Void) throws {
    let realm = try Realm(configuration: workload.configuration(.relaxed))
    try workload.note(.none)
    let writing = StressWriting(workload.worker, realm)
    for step in 0..<8 {
      if step == 5 { try between(realm) }
      try workload.writeOne(writing, realm, round * 8 + step)
      try workload.acknowledge()
    }
  }

  /// Copies of a file while its commits are not synced, and compactions of it.
  func copyRelaxed() throws {
    try StressStore.fill(path, isDurable: false)
    try workload.awaitClosed()
    try workload.begin()
    try workload.acknowledgeClosed(path)
    let copied = workload.folder + "/copy.realm"
    for round in 0..<workload.steps {
      PowerTrace.noteRefusable(path)
      try writeRelaxed(round) { _ in
        try workload.copy(to: copied, round)
        try workload.acknowledgeClosed(copied)
      }
      try workload.awaitClosed()
      try workload.acknowledgeClosed(path)
      _ = try StoreRegistry.compact(path)
      try workload.acknowledgeClosed(path)
    }
  }
}
