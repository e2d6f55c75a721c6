print("tarn-bench")
