import Foundation
import Tarn

class Purchase: Object {
  @Persisted(primaryKey: true) var id = UUID()
  @Persisted var customer = ""
  @Persisted var date = Date()
}

/// Sends a letter for each purchase. Letters may be sent twice, after an error or a crash: the
/// receiver drops those whose id it has seen.
struct Outbox {
  struct Letter: Codable, Equatable {
    /// The same each time that the letter is sent.
    let id: UUID
    let text: String
  }

  let send: (Letter) throws -> Void

  func deliver(from realm: Realm) throws {
    // Purchases from before the outbox are not its business.
    let cursor = try realm.cursor("outbox", of: .objects(of: Purchase.self))
    defer { cursor.close() }
    while let batch = try cursor.next() {
      let purchases =
        batch.fullResync == nil
        ? batch[Purchase.self].inserted : Array(batch.objects(Purchase.self))
      for purchase in purchases.sorted(by: { $0.date < $1.date }) {
        try send(Letter(id: purchase.id, text: "Thank you, \(purchase.customer)"))
      }
      try batch.acknowledge()
    }
  }
}
