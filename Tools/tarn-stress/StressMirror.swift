import Tarn

/// A copy of one collection, built only from the changes that its observer received.
final class StressMirror {
  private struct Row: Equatable {
    var balance: Int
    var note: String
    var partner: Int?

    init(_ account: StressAccount) {
      balance = account.balance
      note = account.note
      partner = account.partner?.id
    }
  }

  private let name: String
  private var forgets: Bool
  private var ids: [Int] = []
  private var rows: [Int: Row] = [:]
  private(set) var updates = 0

  /// - Parameter forgets: true to skip the modifications of one update, from the fifth on, which
  ///   the comparison must then detect.
  init(_ name: String, forgets: Bool) {
    self.name = name
    self.forgets = forgets
  }

  /// Applies a change and compares the copy with the data; returns a mismatch.
  func apply(_ change: RealmCollectionChange<Results<StressAccount>>) -> String? {
    switch change {
    case .initial(let accounts):
      ids = accounts.map(\.id)
      for account in accounts { rows[account.id] = Row(account) }
      return compare(accounts)
    case .update(let accounts, let deletions, let insertions, let modifications):
      updates += 1
      if let problem = replay(accounts, deletions, insertions, modifications) {
        return problem
      }
      return compare(accounts)
    case .error(let error):
      return "\(name) ended: \(error)"
    }
  }

  private func replay(
    _ accounts: Results<StressAccount>, _ deletions: [Int], _ insertions: [Int],
    _ modifications: [Int]
  ) -> String? {
    let lists = [(deletions, ids.count), (modifications, ids.count), (insertions, accounts.count)]
    for (list, count) in lists where !isAscending(list, below: count) {
      return "\(name): positions \(list) are not ascending and below \(count)"
    }
    var changed = Set(modifications.map { ids[$0] })
    if forgets, updates >= 5, !changed.isEmpty {
      forgets = false
      changed.removeAll()
    }
    for index in deletions.reversed() { rows[ids.remove(at: index)] = nil }
    for index in insertions {
      guard index <= ids.count else { return "\(name): a gap before the insertion at \(index)" }
      let account = accounts[index]
      ids.insert(account.id, at: index)
      rows[account.id] = Row(account)
    }
    for (index, id) in ids.enumerated() where changed.contains(id) {
      guard index < accounts.count else { return "\(name): too many rows after the change" }
      rows[id] = Row(accounts[index])
    }
    return nil
  }

  private func isAscending(_ list: [Int], below count: Int) -> Bool {
    var last = -1
    for index in list {
      guard index > last, index < count else { return false }
      last = index
    }
    return true
  }

  private func compare(_ accounts: Results<StressAccount>) -> String? {
    guard accounts.count == ids.count else {
      return "\(name): \(accounts.count) rows, but \(ids.count) by the changes"
    }
    for (index, account) in accounts.enumerated() {
      guard account.id == ids[index] else {
        return "\(name): row \(index) is \(account.id), but \(ids[index]) by the changes"
      }
      guard rows[account.id] == Row(account) else {
        return "\(name): account \(account.id) differs from the reported changes"
      }
    }
    return nil
  }
}
