import Foundation
import Tarn

class Pony: Object {
  @Persisted(primaryKey: true) var id = UUID()
  @Persisted var name: String
  @Persisted var age: Int
}

let realm = try Realm()
let old = realm.objects(Pony.self).where { $0.age > 5 }.sorted(by: \.name)

if CommandLine.arguments.contains("watch") {
  // One process is notified of every commit, by any process.
  let token = old.observe { change in
    switch change {
    case .initial(let ponies): print(ponies.count, "old ponies")
    case .update(let ponies, let deletions, let insertions, let modifications):
      print(ponies.count, "old ponies now:", deletions, insertions, modifications)
    case .error(let error): print(error)
    }
  }
  withExtendedLifetime(token) { RunLoop.main.run() }
} else {
  // Any other process, on the same file.
  let star = Pony()
  star.name = "Star"
  star.age = 7
  try realm.write { realm.add(star) }
  print("Wrote", star.name, "to", realm.configuration.fileURL!.path)
}
