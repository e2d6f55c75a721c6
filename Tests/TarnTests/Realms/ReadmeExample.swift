import Foundation
import Tarn
import Testing

class Pony: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var age: Int
}

/// The code in README.md, compiled: each line of it must stand here, in its order.
enum ReadmeExample {
  static func write() throws {
    let realm = try Realm()
    let star = Pony()
    star.name = "Star"
    star.age = 7
    try realm.write { realm.add(star) }
  }

  static func watch() throws {
    let old = try Realm().objects(Pony.self).where { $0.age > 5 }.sorted(by: \.name)
    let token = old.observe { change in
      if case .update(let ponies, let deletions, let insertions, let modifications) = change {
        print(ponies.count, deletions, insertions, modifications)
      }
    }
    RunLoop.main.run()
    token.invalidate()
  }
}

struct ReadmeExampleTests {
  private func lines(_ text: some StringProtocol) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
  }

  @Test func theExampleIsTheCodeHere() throws {
    let here = URL(fileURLWithPath: #filePath)
    let readme = here.deletingLastPathComponent().appendingPathComponent("../../../README.md")
    let text = try String(contentsOf: readme, encoding: .utf8)
    let example = try #require(text.split(separator: "```swift\n").dropFirst().first)
    let shown = lines(try #require(example.split(separator: "```").first))
    var compiled = lines(try String(contentsOf: here, encoding: .utf8))[...]
    for line in shown where !line.hasPrefix("//") {
      let place = try #require(compiled.firstIndex(of: line), "only in README.md: \(line)")
      compiled = compiled[(place + 1)...]
    }
  }
}
